// An IDL file in the current Anchor format: the parts that the project reads.

export type IdlType =
  | string
  | { readonly option: IdlType }
  | { readonly vec: IdlType }
  | { readonly array: readonly [IdlType, number | object] }
  | { readonly defined: { readonly name: string } };

export interface IdlField {
  readonly name: string;
  readonly docs?: readonly string[];
  readonly type: IdlType;
}

export type IdlBody =
  | { readonly kind: 'struct'; readonly fields?: readonly (IdlField | IdlType)[] }
  | {
      readonly kind: 'enum';
      readonly variants: readonly { readonly name: string; readonly fields?: readonly unknown[] }[];
    }
  | { readonly kind: 'type'; readonly alias: IdlType };

export interface IdlTypeDefinition {
  readonly name: string;
  readonly type: IdlBody;
}

export interface Discriminated {
  readonly name: string;
  readonly discriminator: readonly number[];
}

export interface IdlInstruction extends Discriminated {
  readonly accounts: readonly { readonly name: string; readonly writable?: boolean; readonly signer?: boolean }[];
  readonly args: readonly IdlField[];
}

/** The parts of an IDL in the current Anchor format that decoding needs. */
export interface CurrentIdl {
  readonly address: string;
  readonly metadata: { readonly name: string; readonly version: string; readonly spec: string };
  readonly accounts?: readonly Discriminated[];
  readonly events?: readonly Discriminated[];
  readonly types?: readonly IdlTypeDefinition[];
  readonly errors?: readonly { readonly code: number; readonly name: string; readonly msg?: string }[];
}
