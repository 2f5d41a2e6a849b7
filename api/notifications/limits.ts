// Limits of notifications and their reasons.

/** Rows of a feed page. Published size. */
export const FEED_PAGE_ROWS = 20;
/**
 * Newest marks of a wallet that a query of its feed takes along: 45 KB of its address. ClickHouse refuses a parameter of 128 KiB
 * (`http_max_field_value_size`). The store has a mark about a second after the log, and a wallet gets far fewer marks a second.
 */
export const FEED_MARKS_MAX = 1_000;
/** Devices of a wallet: phones, browsers and a few webhooks. Each notification goes to all of them. */
export const DEVICES_MAX = 10;
export const DEVICE_ID_CHARS_MAX = 128;
/** Push tokens have up to about 300 characters, Web Push subscriptions about 600. */
export const TOKEN_CHARS_MAX = 4_096;
/** Bytes of a Web Push subscription's keys: a P-256 point, and a secret (RFC 8291). */
export const P256DH_BYTES = 65;
export const AUTH_BYTES = 16;
