import { signJsonWebToken } from '@parley/testkit';
import { type Inputs, JWT_SECRET } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /fetch_api_key': {
    'right password': ({ organization: { owners, password } }) => ({ username: owners[0]!.email, password }),
  },
  'POST /jwt/fetch_api_key': {
    'a token': ({ organization: { owners } }) => ({
      token: signJsonWebToken({ email: owners[0]!.email, more: 'x'.repeat(7000) }, JWT_SECRET),
      include_profile: true,
    }),
  },
  'POST /accounts/login/': {
    'right password': ({ organization: { owners, password } }) => ({ username: owners[0]!.email, password }),
  },
  'POST /json/fetch_api_key': { 'right password': ({ organization: { password } }) => ({ password }) },
  'POST /dev_fetch_api_key': {
    somebody: ({ organization: { owners } }) => ({ username: owners[0]!.email }),
  },
};
