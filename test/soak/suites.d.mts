export const SUITES: Readonly<
  Record<
    string,
    {
      readonly usage: string;
      readonly takes: string;
      readonly proves: string;
      readonly files?: readonly string[];
      readonly profiles?: readonly string[];
    }
  >
>;
