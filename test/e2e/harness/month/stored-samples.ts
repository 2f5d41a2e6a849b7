// The samples of prices that the service keeps in ClickHouse.

import { createClient } from '@clickhouse/client';

export interface Sample {
  readonly market_type: string;
  readonly market_index: number;
  readonly ts: string;
  readonly slot: string;
  readonly oracle_price: string | null;
  readonly oracle_high: string | null;
  readonly oracle_low: string | null;
  readonly bid_price: string | null;
  readonly ask_price: string | null;
  readonly long_spread: number;
  readonly short_spread: number;
  readonly base_asset_amount_with_amm: string;
  readonly open_interest_long: string;
  readonly open_interest_short: string;
}

/** Every stored sample, oldest first. */
export async function storedSamples(url: string, database = 'slotbook'): Promise<readonly Sample[]> {
  const client = createClient({ url, database });
  try {
    const result = await client.query({
      query: 'SELECT * FROM market_sample FINAL ORDER BY ts, slot',
      format: 'JSONEachRow',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 1 },
    });
    return await result.json<Sample>();
  } finally {
    await client.close();
  }
}
