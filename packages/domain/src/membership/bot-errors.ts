import { declareErrors } from '../kernel/errors.js';

export const BOT_ERRORS = declareErrors({
  INVALID_BOT_KIND: 'invalid',
  INVALID_WEBHOOK_INTERFACE: 'invalid',
  /** No bots run inside of this server. */
  EMBEDDED_BOTS_DISABLED: 'forbidden',
  /** Of one owner. */
  TOO_MANY_BOTS: 'conflict',
  /** The bot has stored nothing under one of the keys, or one is named twice. */
  UNKNOWN_STORED_KEY: 'unknown',
  /** What the bot stores would be longer, or more keys, than a bot may store. */
  BOT_STORAGE_FULL: 'conflict',
});

type BotErrors = typeof BOT_ERRORS;

declare module '../kernel/errors.js' {
  interface ErrorCodes extends BotErrors {}
}
