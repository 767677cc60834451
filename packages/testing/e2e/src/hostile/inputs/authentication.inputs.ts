import { signJsonWebToken } from '@parley/testkit';
import { type Inputs, JWT_SECRET } from '../input-context.js';

/** Expiry of tokens in Unix seconds: the end of the year 2099. */
const FAR_FUTURE = 4_102_444_799;

export const INPUTS: Inputs = {
  'POST /fetch_api_key': {
    'right password': ({ organization: { owners, password } }) => ({ username: owners[0]!.email, password }),
  },
  'POST /jwt/fetch_api_key': {
    'a token': ({ organization: { owners } }) => ({
      token: signJsonWebToken({ email: owners[0]!.email, exp: FAR_FUTURE, more: 'x'.repeat(7000) }, JWT_SECRET),
      include_profile: true,
    }),
  },
  'POST /accounts/login/': {
    'right password': ({ organization: { owners, password } }) => ({ username: owners[0]!.email, password }),
  },
  'DELETE /users/me/sessions/:session_id': { unknown: () => ({ session_id: 4711 }) },
  'DELETE /users/:user_id/second_factors': {
    'an owner': ({ organization: { owners } }) => ({ user_id: owners[1]!.id }),
  },
  'POST /json/fetch_api_key': { 'right password': ({ organization: { password } }) => ({ password }) },
  'POST /dev_fetch_api_key': {
    somebody: ({ organization: { owners } }) => ({ username: owners[0]!.email }),
  },
};
