import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { PROGRAM } from '../../../test/support/transactions/wallet.ts';
import { failureOf, landedFailureOf } from './failures.ts';

describe('failures', () => {
  const program = PROGRAM.programId.toBase58();
  const failed = (code: number) => ({ InstructionError: [2, { Custom: code }] }) as never;

  it('are named by the definition when the log has no line', () => {
    const logs = [`Program ${program} failed: custom program error: 0x1773`];
    expect(failureOf(PROGRAM, failed(6003), logs)).toMatchObject({ code: 6003, name: 'InsufficientCollateral' });
    expect(failureOf(PROGRAM, failed(3012), logs)).toMatchObject({ code: 3012, name: 'AccountNotInitialized' });
  });

  it('of another program keep its code to that program', () => {
    const logs = ['Program 11111111111111111111111111111111 failed: custom program error: 0x1773'];
    expect(failureOf(PROGRAM, failed(6003), logs)).toEqual({
      success: false,
      error: 'Transaction simulation failed: {"InstructionError":[2,{"Custom":6003}]}',
      details: logs[0],
    });
    expect(failureOf(PROGRAM, 'BlockhashNotFound', [])).toEqual({
      success: false,
      error: 'Transaction simulation failed: BlockhashNotFound',
    });
  });

  it('on the chain are named by the instruction where the code can only be of the exchange', () => {
    const system = SystemProgram.programId;
    const call = (programId: PublicKey) => new TransactionInstruction({ programId, keys: [], data: Buffer.alloc(8) });
    const message = new TransactionMessage({
      payerKey: Keypair.generate().publicKey,
      recentBlockhash: PublicKey.default.toBase58(),
      instructions: [call(ComputeBudgetProgram.programId), call(system), call(PROGRAM.programId)],
    });
    const transaction = new VersionedTransaction(message.compileToV0Message());
    const landed = (err: object | string) => landedFailureOf(PROGRAM, err as never, transaction, 'sig');
    const plain = (text: string) => ({
      success: false,
      error: `The transaction failed on the chain: ${text}`,
      txSig: 'sig',
    });
    expect(landed(failed(6003))).toMatchObject({ code: 6003, name: 'InsufficientCollateral', txSig: 'sig' });
    expect(landed(failed(3012))).toMatchObject({ code: 3012, name: 'AccountNotInitialized', txSig: 'sig' });
    for (const err of [
      failed(1),
      failed(99_999),
      { InstructionError: [1, { Custom: 6003 }] },
      { InstructionError: [9, { Custom: 6003 }] },
      { InstructionError: [2, 'ComputationalBudgetExceeded'] },
      { InsufficientFundsForRent: { account_index: 1 } },
    ]) {
      expect(landed(err)).toEqual(plain(JSON.stringify(err)));
    }
    expect(landed('InsufficientFundsForFee')).toEqual(plain('InsufficientFundsForFee'));
  });
});
