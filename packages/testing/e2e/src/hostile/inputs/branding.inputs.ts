import { FormFile } from '../encode.js';
import { type Inputs, MANY_PIXELS } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /realm/icon': { 'many pixels': () => ({ file: new FormFile('a.png', MANY_PIXELS) }) },
  'GET /realm/logo': { 'for the night': () => ({ night: true }) },
  'POST /realm/logo': { 'many pixels': () => ({ night: false, file: new FormFile('a.png', MANY_PIXELS) }) },
  'DELETE /realm/logo': { 'for the day': () => ({ night: false }) },
  'GET /user_avatars/:realm_id/realm/logo.png': { 'a logo': () => ({ realm_id: 1 }) },
  'GET /user_avatars/:realm_id/realm/night_logo.png': { 'a logo': () => ({ realm_id: 1 }) },
  'GET /user_avatars/:realm_id/realm/icon.png': {
    'an icon': () => ({ realm_id: 1 }),
  },
};
