import { FormFile } from '../encode.js';
import { type Inputs, MANY_PIXELS } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /users/me/avatar': { 'many pixels': () => ({ file: new FormFile('a.png', MANY_PIXELS) }) },
  'GET /user_avatars/:realm_id/:file': {
    'a large one': () => ({ realm_id: 1, file: '1-medium.png' }),
  },
};
