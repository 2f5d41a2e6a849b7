// Messages between the main loop and the thread of large reads.

import type { Pack } from './packed-accounts.ts';

export type WorkerRequest =
  | {
      readonly kind: 'read';
      readonly id: number;
      readonly url: string;
      readonly body: string;
      readonly timeoutMs: number;
    }
  | { readonly kind: 'cancel'; readonly id: number };

export type WorkerAnswer =
  | { readonly kind: 'pack'; readonly id: number; readonly pack: Pack }
  | { readonly kind: 'end'; readonly id: number; readonly envelope: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly status: number; readonly retryAfter: string | null }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string };
