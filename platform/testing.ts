// Second entry of platform/, for tests of other rooms and for test/.

export { type KafkaBroker, startKafka } from './log/testing/broker.ts';
