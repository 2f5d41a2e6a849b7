// Amounts and words in the texts of notifications.

/** `1500000000n`, 9 digits -> `1.5`. Exact; trailing zeros are left out. */
export function decimalText(value: bigint, digits: number): string {
  const isNegative = value < 0n;
  const plain = String(isNegative ? -value : value).padStart(digits + 1, '0');
  const fraction = plain.slice(-digits).replace(/0+$/, '');
  const text = plain.slice(0, -digits) + (fraction === '' ? '' : `.${fraction}`);
  return isNegative ? `-${text}` : text;
}

/** With a capital letter. */
export function titled(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
