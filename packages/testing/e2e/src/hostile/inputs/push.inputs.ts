import { createECDH } from 'node:crypto';
import { type Inputs, PUSH_REGISTRATION } from '../input-context.js';

export const INPUTS: Inputs = {
  'POST /mobile_push/register': {
    'a key and a token': async ({ addDevice }) => ({ ...PUSH_REGISTRATION, device_id: await addDevice() }),
  },
  'POST /mobile_push/e2ee/test_notification': {
    'one device': async ({ registerDevice }) => ({ device_id: await registerDevice() }),
  },
  'POST /users/me/apns_device_token': {
    'a long one': ({ n }) => ({ token: `${n}`.padStart(4096, '0'), appid: 'x'.repeat(255) }),
  },
  'DELETE /users/me/apns_device_token': {
    'a long one': async ({ addToken }) => ({ token: await addToken('apns') }),
  },
  'POST /users/me/android_gcm_reg_id': { 'a long one': ({ n }) => ({ token: `${n}`.padStart(4096, '0') }) },
  'DELETE /users/me/android_gcm_reg_id': {
    'a long one': async ({ addToken }) => ({ token: await addToken('fcm') }),
  },
  'POST /web_push/subscriptions': {
    'a long one': ({ n }) => ({
      endpoint: `https://push.example.com/${n}/`.padEnd(2048, 'x'),
      p256dh: createECDH('prime256v1').generateKeys('base64url'),
      auth: Buffer.alloc(16, 1).toString('base64url'),
    }),
  },
  'POST /remove_client_device': {
    'a new one': async ({ addDevice }) => ({ device_id: await addDevice() }),
  },
};
