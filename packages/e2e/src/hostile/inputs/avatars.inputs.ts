import { FormFile } from '../encode.js';
import { type Inputs, MANY_PIXELS, peopleOf } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /users/me/avatar': { 'many pixels': () => ({ file: new FormFile('a.png', MANY_PIXELS) }) },
  'GET /avatar/:user_id': { 'somebody’s': (surroundings) => ({ user_id: peopleOf(surroundings)[0] }) },
  'GET /avatar/:user_id/medium': { 'somebody’s': (surroundings) => ({ user_id: peopleOf(surroundings)[0] }) },
  'GET /user_avatars/:realm_id/:file': {
    'a large one': () => ({ realm_id: 1, file: '1-medium.png' }),
  },
};
