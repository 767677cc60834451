export type { Letter, Mailer } from './letter.js';
export type { LetterQuota, LetterRule } from './letter-quota.js';
