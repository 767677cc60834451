import { type Inputs, lengthened } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /users/me/alert_words': {
    many: () => ({ alert_words: Array.from({ length: 500 }, (_, n) => lengthened(`${n} `, 100)) }),
  },
  'DELETE /users/me/alert_words': {
    many: () => ({ alert_words: Array.from({ length: 500 }, (_, n) => lengthened(`${n} `, 100)) }),
  },
};
