import { createHash } from 'node:crypto';

/**
 * What a secret file begins with, before the checksum and the secret. At the front, so that a file that was cut off does not
 * pass for one of the time before there were checksums, which held the secret alone.
 */
const MARK = 'parley-secret sha256:';
const MIN_LENGTH = 32;
const CHECKSUM_LENGTH = 64;
/** Of the mark, 64 digits, a blank and 32 bytes in base64: what is as long and begins otherwise is a damaged one. */
const MARKED_LENGTH = MARK.length + CHECKSUM_LENGTH + 1 + 43;

const checksumOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** As it is written into a file. */
export const formatSecret = (secret: string): string => `${MARK}${checksumOf(secret)} ${secret}\n`;

export const isMarkedSecret = (content: string): boolean => content.startsWith(MARK);

/** What a file that we have written holds; null when it is damaged. */
export function parseMarkedSecret(content: string): string | null {
  const checksum = content.slice(MARK.length, MARK.length + CHECKSUM_LENGTH);
  const secret = content.slice(MARK.length + CHECKSUM_LENGTH + 1);
  const isSeparated = content[MARK.length + CHECKSUM_LENGTH] === ' ';
  return isSeparated && secret !== '' && checksumOf(secret) === checksum ? secret : null;
}

/** Of the time before there were checksums. */
export const isPlainSecret = (content: string): boolean =>
  content.length >= MIN_LENGTH && content.length !== MARKED_LENGTH && /^[\x20-\x7e]+$/.test(content);
