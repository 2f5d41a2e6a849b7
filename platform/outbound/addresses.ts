// Which addresses a request to a URL of a client may reach: public ones, and networks that the operator allows.

import ipaddr from 'ipaddr.js';
import { ConfigError } from '../config.ts';

export type Network = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number];

/** All unicast addresses of the public IPv6 internet (RFC 4291, 2.4). The list of special ranges lacks `::/96`, for example. */
const PUBLIC_IPV6: Network = [ipaddr.IPv6.parse('2000::'), 3];

/** Parses networks such as `10.1.0.0/16`, separated by commas; empty text has none. Throws ConfigError. */
export function parseNetworks(name: string, text: string): readonly Network[] {
  const parts = text.split(',').map((part) => part.trim());
  return parts
    .filter((part) => part !== '')
    .map((part) => {
      if (!ipaddr.isValidCIDR(part))
        throw new ConfigError(`${name} must be networks separated by commas; not "${part}"`);
      return ipaddr.parseCIDR(part);
    });
}

/**
 * Whether an address (text) is a public unicast one. False for private, loopback, link-local, shared, multicast and reserved
 * ranges, and for those that embed an IPv4 address (mapped, NAT64, 6to4, Teredo). False also for text that is no address.
 */
export function isPublicAddress(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, PUBLIC_IPV6));
}

/** Whether an address (text) is in one of the networks. A mapped IPv4 address is in none. */
export function isInNetworks(text: string, networks: readonly Network[]): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.parse(text);
  return networks.some((network) => isWithin(address, network));
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match(base, bits);
}
