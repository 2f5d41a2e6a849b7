// Encodes and decodes our own messages. Values have the interfaces of ../messages/index.ts.

import avro from 'avsc';
import type { VaultDepositorState, VaultState } from '../chain/vaults.ts';
import type {
  AccountMargin,
  AccountsCoverage,
  Backfill,
  BookCheck,
  BookMarket,
  BookOracle,
  BookOrders,
  BookRepair,
  BookRevert,
  BookSlot,
  BookSnapshotBegin,
  BookSnapshotEnd,
  BookTime,
  BookViewDiff,
  BookViewSnapshot,
  CandleView,
  ChainFinality,
  DeadLetter,
  ExportClaimed,
  ExportExpired,
  ExportFinished,
  ExportRequested,
  FeedQuality,
  FeeLevels,
  FillQualityView,
  FillsResolved,
  FillWithdrawal,
  InsuranceFundState,
  LiveSources,
  MakerQuotes,
  MarginBegin,
  MarginTime,
  MarketMargin,
  MarketSample,
  MarketSummary,
  MarketView,
  Notification,
  NotificationDelivery,
  NotificationDevice,
  NotificationPreferences,
  NotificationRead,
  OpenOrders,
  OrderChange,
  PnlRanking,
  PositionMarket,
  PositionState,
  ProcessedFill,
  RevenueShareEscrowState,
  RevenueShareState,
  SignatureClaim,
  SlotRetraction,
  StreamCounter,
  StreamCoverage,
  TradeView,
  TradeWithdrawal,
  UserOrders,
  WithdrawnCandle,
  WriterMark,
} from '../messages/index.ts';
import { decodeBody, explainInvalid, openRecord, SchemaError, writerOf } from './wire.ts';

export interface MessageTypes {
  BookOrders: BookOrders;
  BookMarket: BookMarket;
  BookOracle: BookOracle;
  BookSlot: BookSlot;
  BookTime: BookTime;
  BookSnapshotBegin: BookSnapshotBegin;
  BookSnapshotEnd: BookSnapshotEnd;
  BookRepair: BookRepair;
  BookRevert: BookRevert;
  BookCheck: BookCheck;
  FeedQuality: FeedQuality;
  LiveSources: LiveSources;
  StreamCounter: StreamCounter;
  StreamCoverage: StreamCoverage;
  AccountsCoverage: AccountsCoverage;
  Backfill: Backfill;
  SlotRetraction: SlotRetraction;
  PositionState: PositionState;
  PositionMarket: PositionMarket;
  PnlRanking: PnlRanking;
  FeeLevels: FeeLevels;
  FillQualityView: FillQualityView;
  BookViewDiff: BookViewDiff;
  BookViewSnapshot: BookViewSnapshot;
  MarketView: MarketView;
  MarketSample: MarketSample;
  MarketSummary: MarketSummary;
  CandleView: CandleView | WithdrawnCandle;
  TradeView: TradeView;
  TradeWithdrawal: TradeWithdrawal;
  ProcessedFill: ProcessedFill;
  FillWithdrawal: FillWithdrawal;
  FillsResolved: FillsResolved;
  OrderChange: OrderChange;
  OpenOrders: OpenOrders;
  UserOrders: UserOrders;
  MakerQuotes: MakerQuotes;
  VaultState: VaultState;
  VaultDepositorState: VaultDepositorState;
  AccountMargin: AccountMargin;
  MarketMargin: MarketMargin;
  MarginBegin: MarginBegin;
  MarginTime: MarginTime;
  Notification: Notification;
  NotificationRead: NotificationRead;
  NotificationDelivery: NotificationDelivery;
  NotificationPreferences: NotificationPreferences;
  NotificationDevice: NotificationDevice;
  ExportRequested: ExportRequested;
  ExportClaimed: ExportClaimed;
  ExportFinished: ExportFinished;
  ExportExpired: ExportExpired;
  DeadLetter: DeadLetter;
  WriterMark: WriterMark;
  SignatureClaim: SignatureClaim;
  ChainFinality: ChainFinality;
  RevenueShareState: RevenueShareState;
  RevenueShareEscrowState: RevenueShareEscrowState;
  InsuranceFundState: InsuranceFundState;
}

export type MessageName = keyof MessageTypes;
export type Message = { [N in MessageName]: { name: N; value: MessageTypes[N] } }[MessageName];

/** Encodes a message with its envelope. Throws a RangeError that names the field when a value is missing or out of range. */
export function encodeMessage<N extends MessageName>(name: N, value: MessageTypes[N]): Buffer {
  const writer = writerOf(name);
  if (writer?.kind !== 'message') throw new RangeError(`no message ${name}`);
  const { type } = writer;
  try {
    return writer.encode((buffer, at) => type.encode(value, buffer, at));
  } catch (cause) {
    const fields = type instanceof avro.types.RecordType ? type.fields : [];
    throw new RangeError(explainInvalid(name, fields, value), { cause });
  }
}

/** Name of the message, without decoding it. Throws SchemaError for bytes that are no message. */
export function messageName(bytes: Uint8Array): MessageName {
  const { writer } = openRecord(bytes).reader;
  if (writer.kind !== 'message') throw new SchemaError('not-a-record', `${writer.name} is a program event`);
  return writer.name as MessageName;
}

/** Decodes a message of the current or any committed past version. Throws SchemaError for anything else. */
export function decodeMessage(bytes: Uint8Array): Message {
  const opened = openRecord(bytes);
  const { writer } = opened.reader;
  if (writer.kind !== 'message') throw new SchemaError('not-a-record', `${writer.name} is a program event`);
  return { name: writer.name, value: decodeBody(writer.type, opened).value } as Message;
}

/** The message of this name; null for another one, and for bytes that no version reads. */
export function readableMessage<N extends MessageName>(name: N, bytes: Uint8Array): MessageTypes[N] | null {
  try {
    const message = decodeMessage(bytes);
    return message.name === name ? (message.value as MessageTypes[N]) : null;
  } catch (error) {
    if (error instanceof SchemaError) return null;
    throw error;
  }
}
