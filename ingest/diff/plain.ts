// States that need no comparison with others: vaults, builder accounts, and the terms of insurance funds.

import { discriminatorOf } from '../decode/account.ts';
import type { Readers } from '../readers.ts';
import type { AccountUpdate } from '../source.ts';
import type { Emit } from './output.ts';

export class PlainDiffer {
  readonly #readers: Readers;
  /** Unstaking periods by spot market. */
  readonly #unstaking = new Map<number, bigint>();

  constructor(readers: Readers) {
    this.#readers = readers;
  }

  /** The next state of each fund is emitted. */
  forget(): void {
    this.#unstaking.clear();
  }

  vault({ data, pubkey, slot }: AccountUpdate, emit: Emit): void {
    const read = this.#readers.vaults.get(discriminatorOf(data));
    if (read) emit(read(data, pubkey, slot));
  }

  builder({ data, pubkey, slot }: AccountUpdate, emit: Emit): void {
    const read = this.#readers.builders.get(discriminatorOf(data));
    if (read) emit(read(data, pubkey, slot));
  }

  /** Spot markets change all the time, their insurance fund's terms hardly ever. */
  fund(view: DataView, marketIndex: number, slot: number, emit: Emit): void {
    const unstakingPeriod = this.#readers.unstakingPeriod?.(view);
    if (unstakingPeriod === undefined || this.#unstaking.get(marketIndex) === unstakingPeriod) return;
    this.#unstaking.set(marketIndex, unstakingPeriod);
    emit({ name: 'InsuranceFundState', value: { marketIndex, slot, unstakingPeriod } });
  }
}
