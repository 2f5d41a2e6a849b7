// Funding carry: long the spot asset, short the perp, collect funding every hour. What would the trade have earned?
//
//   npm run example funding-carry -- [--symbols SOL-PERP,BTC-PERP] [--notional 10000] [--hours 720] [--spot-fee-bps 5]
//
// Data: /market/{symbol}/fundingRates and /market/{symbol}/trades of the history service.
// - Base size is fixed at the first hour: notional / oracle TWAP. Price moves cancel between the two legs, funding stays.
// - A short receives fundingRateShort (quote per base, 1e9) per base unit and hour; the sum is exact.
// - mean %/h: mean of rate / oracle TWAP. APR %: mean * 24 * 365.25, simple, not compounded.
// - Fees: both legs in and out, taker: 2 * (perp + spot). The perp fee is what takers of this market paid recently.
// - break-even h: hours of mean funding that pay the fees; '-' when funding costs the short.

import { decimals, getJson, getRows, printTable, readFlags } from './shared.ts';

interface FundingRate {
  readonly ts: number;
  readonly fundingRateShort: string;
  readonly oraclePriceTwap: string;
}
interface Trade {
  readonly actionExplanation: string;
  readonly quoteAssetAmountFilled: string | null;
  readonly takerFee: string | null;
}
interface Market {
  readonly symbol: string;
  readonly marketType: string;
}

const HOURS_PER_YEAR = 24 * 365.25;
const RATES_PAGE = 750;
const TRADES_PAGE = 50;
const FEE_TRADES = 200;

const flags = readFlags(['symbols', 'notional', 'hours', 'spot-fee-bps']);
const history = flags.endpoint('history');
const notional = flags.number('notional', 10_000);
const hours = flags.number('hours', 720);
const spotFeeBps = flags.number('spot-fee-bps', 5);

async function perpSymbols(): Promise<readonly string[]> {
  const asked = flags.text('symbols', '');
  if (asked !== '') return asked.split(',');
  const markets = await getJson<readonly Market[] | { markets: readonly Market[] }>(`${history}/stats/markets`);
  const list = 'markets' in markets ? markets.markets : markets;
  return list.filter(({ marketType }) => marketType === 'perp').map(({ symbol }) => symbol);
}

/** Recent taker fee of the market, basis points of the filled quote. */
async function takerFeeBps(symbol: string): Promise<number> {
  const newest = await getRows<Trade>(`${history}/market/${symbol}/trades`, FEE_TRADES, TRADES_PAGE);
  const trades = newest.filter(({ actionExplanation }) => !/liquidation|transfer/.test(actionExplanation));
  const sum = (name: 'quoteAssetAmountFilled' | 'takerFee') =>
    trades.reduce((total, trade) => total + BigInt(trade[name] ?? 0), 0n);
  const quote = sum('quoteAssetAmountFilled');
  return quote === 0n ? 0 : (Number(sum('takerFee')) / Number(quote)) * 10_000;
}

async function carry(symbol: string) {
  const newest = await getRows<FundingRate>(`${history}/market/${symbol}/fundingRates`, hours, RATES_PAGE);
  const rates = [...newest].reverse().filter(({ oraclePriceTwap }) => BigInt(oraclePriceTwap) > 0n);
  const [first] = rates;
  if (!first) return null;
  // Notional in 1e6, price in 1e6: base in 1e9.
  const baseShort = (BigInt(Math.round(notional * 1e6)) * 10n ** 9n) / BigInt(first.oraclePriceTwap);
  // Rate 1e9 times base 1e9 is quote 1e18.
  const fundingE18 = rates.reduce((sum, { fundingRateShort }) => sum + BigInt(fundingRateShort) * baseShort, 0n);
  const fundingQuote = Number(fundingE18 / 10n ** 12n) / 1e6;
  const hourly = rates.map((rate) => Number(rate.fundingRateShort) / 1e9 / (Number(rate.oraclePriceTwap) / 1e6));
  const meanHourly = hourly.reduce((sum, rate) => sum + rate, 0) / hourly.length;
  const perpFeeBps = await takerFeeBps(symbol);
  const feesQuote = (2 * (perpFeeBps + spotFeeBps) * notional) / 10_000;
  return {
    symbol,
    hours: rates.length,
    firstTs: first.ts,
    lastTs: rates.at(-1)?.ts ?? first.ts,
    meanHourlyPercent: meanHourly * 100,
    aprPercent: meanHourly * HOURS_PER_YEAR * 100,
    positiveShare: hourly.filter((rate) => rate > 0).length / hourly.length,
    fundingQuote,
    perpFeeBps,
    feesQuote,
    netQuote: fundingQuote - feesQuote,
    breakEvenHours: meanHourly > 0 ? feesQuote / (meanHourly * notional) : null,
  };
}

const results = (await Promise.all((await perpSymbols()).map(carry))).filter((result) => result !== null);
results.sort((a, b) => b.aprPercent - a.aprPercent);
if (!flags.json) process.stdout.write(`long spot, short perp, ${notional} quote a leg\n`);
printTable(
  flags,
  ['market', 'hours', 'mean %/h', 'APR %', 'paid h %', 'funding', 'fee bps', 'fees', 'net', 'break-even h'],
  results.map((row) => [
    row.symbol,
    row.hours,
    decimals(row.meanHourlyPercent, 5),
    decimals(row.aprPercent, 2),
    decimals(row.positiveShare * 100, 0),
    decimals(row.fundingQuote, 2),
    decimals(row.perpFeeBps, 2),
    decimals(row.feesQuote, 2),
    decimals(row.netQuote, 2),
    decimals(row.breakEvenHours, 0),
  ]),
  results,
);
