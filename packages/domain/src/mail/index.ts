export type { Letter, Mailer } from './letter.js';
