// /notifications: feed, read marks, push preferences and devices of the wallet that signed the request.

import bs58 from 'bs58';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  NOTIFICATION_STATUSES,
  NOTIFICATION_TYPES,
  type NotificationDevice,
  type NotificationStatus,
  timeOfNotification,
} from '../../../schemas/index.ts';
import { readJsonBodies } from '../../http/edge-errors.ts';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { DEVICE_ID_CHARS_MAX, DEVICES_MAX, FEED_PAGE_ROWS, TOKEN_CHARS_MAX } from '../../notifications/limits.ts';
import { CHANNELS, notificationRecord } from '../../notifications/record.ts';
import type { NotificationServices } from '../../notifications/services.ts';
import { PLATFORMS, type Platform, tokenFault, webhookSecretOf } from '../../notifications/tokens.ts';
import { answerOf, KEY, listOf, objectOf, orNull, SECONDS, TEXT } from '../answer-schemas.ts';
import { decodeFeedCursor, encodeFeedCursor } from '../feed-cursor.ts';
import { feedPage, hasNotification } from '../queries/notifications.ts';
import { bodyResponses, described, signedResponses, WALLET_SIGNED } from '../route-schemas.ts';
import { type HistoryServices, walletsOf } from '../services.ts';
import type { WalletCheck } from '../wallet/wallets.ts';

const TAGS = ['Notifications'];
const RECORD = objectOf(
  {
    notificationId: { type: 'string', format: 'uuid', description: 'time-ordered; the same cause has the same id' },
    authorityId: KEY,
    title: TEXT,
    body: TEXT,
    type: { type: 'string', enum: NOTIFICATION_TYPES },
    status: { type: 'string', enum: NOTIFICATION_STATUSES },
    channels: listOf({ type: 'string', enum: CHANNELS }),
    user: orNull(KEY),
    data: { type: 'object', additionalProperties: true, description: 'members of the cause; amounts are raw integers' },
    actions: listOf({ type: 'object', additionalProperties: true }),
    sentAt: orNull(SECONDS),
    createdAt: SECONDS,
  },
  'one notification',
);
const PREFERENCES = objectOf({
  authorityId: KEY,
  pushOptOutTypes: listOf({ type: 'string', enum: NOTIFICATION_TYPES }),
});
const DEVICE = objectOf({
  deviceId: TEXT,
  token: orNull(TEXT),
  platform: { type: 'string', enum: PLATFORMS },
  createdAt: SECONDS,
});
const DONE = objectOf({ success: { type: 'boolean', const: true } }, 'done');

const DEVICE_ID = {
  type: 'string',
  pattern: `^[A-Za-z0-9._:~-]{1,${DEVICE_ID_CHARS_MAX}}$`,
  description: "the client's own name of the device",
};

/** Failure answers, with a 404 of its own text. */
const failures = (missing?: keyof typeof HISTORY_ERRORS) => {
  const { 404: wallet, ...others } = signedResponses;
  const also = missing === undefined ? '' : ` or: ${HISTORY_ERRORS[missing].error}`;
  return { ...others, 404: { ...wallet, description: `${HISTORY_ERRORS.delegateAccountUnknown.error}${also}` } };
};

/** The routes. Answers are notBuilt in a service without notifications or wallets. */
export function notificationRoutes(app: FastifyInstance, services: HistoryServices): void {
  readJsonBodies(app);
  feedRoutes(app, services);
  preferenceRoutes(app, services);
  deviceRoutes(app, services);
}

/** The signer's wallet, and the notification services. */
async function admitted(services: HistoryServices, request: FastifyRequest, check: WalletCheck) {
  const { notifications } = services;
  if (!notifications) throw new HistoryError('notBuilt');
  const { authority } = await walletsOf(services).authenticate(request.raw, check);
  return { authority, key: bs58.decode(authority), notifications };
}

/** Refuses other members and types. The validator would convert them without a word. */
function onlyMembers(members: Readonly<Record<string, 'text' | 'text or null' | 'list'>>) {
  return async ({ body }: FastifyRequest): Promise<void> => {
    for (const [name, value] of Object.entries((body as object | null | undefined) ?? {})) {
      const type = members[name];
      if (type === undefined) throw new HistoryError('validation', `body must NOT have additional property: ${name}`);
      const isText = typeof value === 'string' || (value === null && type === 'text or null');
      const isRight = type === 'list' ? Array.isArray(value) : isText;
      if (!isRight)
        throw new HistoryError('validation', `body/${name} must be ${type === 'list' ? 'array' : 'string'}`);
    }
  };
}

/** A change is stored in the log, or answered with 503. */
async function stored(change: Promise<void>): Promise<void> {
  try {
    await change;
  } catch (cause) {
    throw new HistoryError('changeAway', undefined, { cause });
  }
}

interface FeedRequest {
  readonly Querystring: { readonly page?: string; readonly status?: NotificationStatus };
}

function feedRoutes(app: FastifyInstance, services: HistoryServices): void {
  app.get<FeedRequest>(
    '/notifications',
    {
      schema: described({
        summary: 'Notifications of the wallet, newest first',
        description: `Pages of ${FEED_PAGE_ROWS}. \`page\` is \`meta.nextPage\` of the page before.`,
        tags: TAGS,
        security: WALLET_SIGNED,
        querystring: {
          type: 'object',
          properties: {
            page: { type: 'string', maxLength: 200, description: 'token of the previous page' },
            status: { type: 'string', enum: NOTIFICATION_STATUSES, description: 'only notifications in this state' },
          },
        },
        response: {
          200: answerOf('a page', { records: listOf(RECORD), meta: objectOf({ nextPage: orNull(TEXT) }) }),
          ...failures(),
        },
      }),
    },
    async (request) => {
      const { authority, notifications } = await admitted(services, request, { writes: false });
      const { page, status } = request.query;
      const after = page === undefined ? null : decodeFeedCursor(authority, page);
      await services.builtParts.require('notifications', 'notificationMarks');
      const rows = await feedPage(services.store, {
        authority,
        after,
        statuses: status === undefined ? null : [status],
        limit: FEED_PAGE_ROWS + 1,
        marks: notifications.marks.of(authority),
      });
      const listed = rows.slice(0, FEED_PAGE_ROWS);
      const last = rows.length > FEED_PAGE_ROWS ? listed.at(-1) : undefined;
      const find = (key: string) => services.markets.byKey(key);
      return {
        success: true,
        records: listed.map(({ notification, state }) => notificationRecord(notification, authority, state, find)),
        meta: { nextPage: last ? encodeFeedCursor(authority, last.notification.id) : null },
      };
    },
  );

  app.patch<{ readonly Params: { readonly notificationId: string } }>(
    '/notifications/:notificationId',
    {
      preValidation: onlyMembers({ status: 'text' }),
      schema: described({
        summary: 'Mark a notification as read',
        tags: TAGS,
        security: WALLET_SIGNED,
        params: objectOf({ notificationId: { type: 'string', maxLength: 64, description: 'as in the feed' } }),
        body: objectOf({ status: { type: 'string', const: 'READ' } }),
        response: { 200: DONE, ...failures('unknownNotification'), ...bodyResponses },
      }),
    },
    async (request) => {
      const { authority, key, notifications } = await admitted(services, request, { writes: true });
      const { notificationId: id } = request.params;
      if (!(await isKnown(services, notifications, authority, id))) throw new HistoryError('unknownNotification');
      await stored(notifications.marks.read({ id, authority: key, atMs: notifications.nowMs() }));
      return { success: true };
    },
  );
}

async function isKnown(
  { store }: HistoryServices,
  { recent }: NotificationServices,
  authority: string,
  id: string,
): Promise<boolean> {
  if (timeOfNotification(id) === null) return false;
  return recent.has(authority, id) || hasNotification(store, authority, id);
}

function preferenceRoutes(app: FastifyInstance, services: HistoryServices): void {
  const preferencesOf = ({ settings }: NotificationServices, authorityId: string) => ({
    success: true,
    preferences: { authorityId, pushOptOutTypes: settings.optOutTypes(authorityId) },
  });

  app.get(
    '/notifications/preferences',
    {
      schema: described({
        summary: 'Types that the wallet does not want pushed',
        tags: TAGS,
        security: WALLET_SIGNED,
        response: { 200: answerOf('the preferences', { preferences: PREFERENCES }), ...failures() },
      }),
    },
    async (request) => {
      const { authority, notifications } = await admitted(services, request, { writes: false });
      return preferencesOf(notifications, authority);
    },
  );

  app.put<{ readonly Body: { readonly pushOptOutTypes: readonly string[] } }>(
    '/notifications/preferences',
    {
      preValidation: onlyMembers({ pushOptOutTypes: 'list' }),
      schema: described({
        summary: 'Replace the types that the wallet does not want pushed',
        description: 'The feed still has notifications of these types.',
        tags: TAGS,
        security: WALLET_SIGNED,
        body: objectOf({
          pushOptOutTypes: { type: 'array', uniqueItems: true, items: { type: 'string', enum: NOTIFICATION_TYPES } },
        }),
        response: { 200: answerOf('the preferences', { preferences: PREFERENCES }), ...failures(), ...bodyResponses },
      }),
    },
    async (request) => {
      const { authority, key, notifications } = await admitted(services, request, { writes: true });
      const { settings, nowMs } = notifications;
      const { pushOptOutTypes } = request.body;
      const put = () => settings.putPreferences({ authority: key, pushOptOutTypes, atMs: nowMs() });
      await stored(settings.change(authority, put));
      return preferencesOf(notifications, authority);
    },
  );
}

interface DeviceRequest {
  readonly Body: { readonly deviceId: string; readonly token?: string | null; readonly platform: Platform };
}

function deviceRoutes(app: FastifyInstance, services: HistoryServices): void {
  app.get(
    '/notifications/devices',
    {
      schema: described({
        summary: 'Devices that get pushes for the wallet',
        tags: TAGS,
        security: WALLET_SIGNED,
        response: { 200: answerOf('the devices', { devices: listOf(DEVICE) }), ...failures() },
      }),
    },
    async (request) => {
      const { authority, notifications } = await admitted(services, request, { writes: false });
      return { success: true, devices: notifications.settings.devices(authority).map(deviceRow) };
    },
  );

  app.post<DeviceRequest>(
    '/notifications/devices',
    {
      preValidation: onlyMembers({ deviceId: 'text', token: 'text or null', platform: 'text' }),
      schema: described({
        summary: 'Register a device, or replace its token',
        description:
          `A wallet has at most ${DEVICES_MAX} devices. \`token\` is the push token (ios, android), the Web Push ` +
          'subscription as JSON (web), or an https URL for signed webhooks (empty platform). For a webhook the answer has ' +
          'its `secret`.',
        tags: TAGS,
        security: WALLET_SIGNED,
        body: {
          type: 'object',
          required: ['deviceId', 'platform'],
          properties: {
            deviceId: DEVICE_ID,
            token: { type: ['string', 'null'], maxLength: TOKEN_CHARS_MAX },
            platform: { type: 'string', enum: PLATFORMS },
          },
        },
        response: {
          200: answerOf('the device', {
            device: {
              ...DEVICE,
              properties: {
                ...(DEVICE.properties as object),
                secret: { ...TEXT, description: 'webhooks: key of the signatures' },
              },
            },
          }),
          ...failures(),
          ...bodyResponses,
        },
      }),
    },
    async (request) => {
      const { authority, key, notifications } = await admitted(services, request, { writes: true });
      const { settings, tokens, nowMs } = notifications;
      const { deviceId, platform } = request.body;
      const token = request.body.token ?? '';
      const fault = tokenFault(platform, token, tokens);
      if (fault !== null) throw new HistoryError('validation', `body/${fault}`);
      const device = await settings.change(authority, async () => {
        const devices = settings.devices(authority);
        const known = devices.find((each) => each.deviceId === deviceId);
        if (!known && devices.length >= DEVICES_MAX) throw new HistoryError('tooManyDevices');
        const createdAtMs = known?.createdAtMs ?? nowMs();
        const value = { authority: key, deviceId, platform, token, isRemoved: false, createdAtMs };
        await stored(settings.putDevice(value));
        return value;
      });
      const isWebhook = platform === '' && token !== '';
      const secret = isWebhook ? { secret: webhookSecretOf(tokens.webhookSecret, authority, deviceId) } : {};
      return { success: true, device: { ...deviceRow(device), ...secret } };
    },
  );

  app.delete<{ readonly Params: { readonly deviceId: string } }>(
    '/notifications/devices/:deviceId',
    {
      schema: described({
        summary: 'Remove a device',
        tags: TAGS,
        security: WALLET_SIGNED,
        params: objectOf({ deviceId: DEVICE_ID }),
        response: { 200: DONE, ...failures('unknownDevice') },
      }),
    },
    async (request) => {
      const { authority, notifications } = await admitted(services, request, { writes: true });
      const { settings } = notifications;
      const { deviceId } = request.params;
      await settings.change(authority, async () => {
        const device = settings.devices(authority).find((each) => each.deviceId === deviceId);
        if (!device) throw new HistoryError('unknownDevice');
        await stored(settings.putDevice({ ...device, token: '', isRemoved: true }));
      });
      return { success: true };
    },
  );
}

function deviceRow({ deviceId, token, platform, createdAtMs }: NotificationDevice): object {
  return { deviceId, token: token === '' ? null : token, platform, createdAt: Math.floor(createdAtMs / 1000) };
}
