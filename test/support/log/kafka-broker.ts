// A running Kafka broker, as tests use it.

export interface KafkaBroker {
  /** host:port list for `config.kafkaBrokers`. */
  readonly brokers: string;
  /** Address of the listener with TLS and login, when requested. */
  readonly securedBrokers?: string;
  /** Description for the report of a test run. */
  readonly how: string;
  /** Kills the broker and starts it again with the same data and address, once `whileAway` has ended. */
  restart(whileAway?: () => Promise<void>): Promise<void>;
  stop(): Promise<void>;
}
