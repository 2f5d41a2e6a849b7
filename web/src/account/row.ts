// A record of an account's list, as the history service answers it.

export type Row = Readonly<Record<string, string | number | boolean | null>> & {
  readonly ts: number;
  readonly txSig: string;
};
