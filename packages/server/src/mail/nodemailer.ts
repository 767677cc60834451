import { createRequire } from 'node:module';
import type { Letter } from '@parley/domain/access';

const require = createRequire(import.meta.url);

/** Needed where mail is sent, and by nobody else. */
export const nodemailer = (): typeof import('nodemailer') => require('nodemailer') as typeof import('nodemailer');

/** As nodemailer has it, which encodes what is no plain text and refuses addresses that hold line breaks. */
export const mailOf = ({ to, senderName, subject, text, html }: Letter, from: string) => ({
  from: { name: senderName, address: from },
  to: { name: '', address: to },
  subject,
  text,
  html,
  headers: { 'Auto-Submitted': 'auto-generated' },
  // A letter is what it says: nothing is fetched for it.
  disableFileAccess: true,
  disableUrlAccess: true,
});
