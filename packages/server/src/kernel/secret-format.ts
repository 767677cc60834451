import { createHash } from 'node:crypto';

/**
 * Prefix of a secret file, before the checksum and the secret. The leading prefix distinguishes a truncated file from
 * an older file without a checksum.
 */
const MARK = 'parley-secret sha256:';
const MIN_LENGTH = 32;
const CHECKSUM_LENGTH = 64;
/** Length of mark, 64 digits, a space and 32 bytes in base64. A file of this length with another prefix is damaged. */
const MARKED_LENGTH = MARK.length + CHECKSUM_LENGTH + 1 + 43;

const checksumOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** Formats a secret for its file. */
export const formatSecret = (secret: string): string => `${MARK}${checksumOf(secret)} ${secret}\n`;

export const isMarkedSecret = (content: string): boolean => content.startsWith(MARK);

/** Returns the secret in the content of a marked file; null if it is damaged. */
export function parseMarkedSecret(content: string): string | null {
  const checksum = content.slice(MARK.length, MARK.length + CHECKSUM_LENGTH);
  const secret = content.slice(MARK.length + CHECKSUM_LENGTH + 1);
  const isSeparated = content[MARK.length + CHECKSUM_LENGTH] === ' ';
  return isSeparated && secret !== '' && checksumOf(secret) === checksum ? secret : null;
}

/** True for secret files without a checksum, written by earlier versions. */
export const isPlainSecret = (content: string): boolean =>
  content.length >= MIN_LENGTH && content.length !== MARKED_LENGTH && /^[\x20-\x7e]+$/.test(content);
