import { createECDH } from 'node:crypto';
import { NEW_DEVICE } from '@parley/domain/push';
import { fieldsOf } from '../testing/expectations.js';
import type { TestServer, TestUser } from '../testing/test-server.js';
import type { WireWorld as World } from '../testing/wire-world.js';
import type { Scenarios } from './scenario.js';

const WEB_PUSH_SUBSCRIPTION = {
  endpoint: 'https://push.example.com/1',
  p256dh: createECDH('prime256v1').generateKeys('base64url'),
  auth: Buffer.alloc(16, 1).toString('base64url'),
};

export const PUSH_SCENARIOS: Scenarios = {
  'POST /register_client_device': [{ title: 'a device', as: 'hamlet', heard: ['device/add'] }],
  'POST /remove_client_device': [
    {
      title: 'a device',
      as: 'hamlet',
      prepare: addDevice,
      params: async ({ server, people }) => ({ device_id: await deviceOf(server, people.hamlet) }),
      heard: ['device/remove'],
    },
  ],
  'POST /mobile_push/register': [
    {
      title: 'a key and a token, which the push service takes later',
      as: 'hamlet',
      prepare: (world) => {
        world.pushService.hold();
        return addDevice(world);
      },
      params: async ({ server, people }) => ({
        device_id: await deviceOf(server, people.hamlet),
        push_key_id: 7,
        push_key: Buffer.from('1'.repeat(33)).toString('base64'),
        token_kind: 'fcm',
        token_id: 'AAAAAAAAAAA=',
        bouncer_public_key: 'key',
        encrypted_push_registration: 'text',
      }),
      heard: ['device/update'],
    },
  ],
  'POST /incoming_email': [{ title: 'is nothing to clients without a gateway', as: null, status: 404, heard: [] }],
  'POST /web_push/subscriptions': [
    { title: 'is nothing to clients', as: 'hamlet', params: WEB_PUSH_SUBSCRIPTION, heard: [] },
  ],
  'DELETE /web_push/subscriptions': [
    {
      title: 'is nothing to clients',
      as: 'hamlet',
      prepare: async ({ server, people }) =>
        fieldsOf(await server.post('/web_push/subscriptions', people.hamlet, WEB_PUSH_SUBSCRIPTION)),
      params: { endpoint: WEB_PUSH_SUBSCRIPTION.endpoint },
      heard: [],
    },
  ],
  'POST /users/me/apns_device_token': [
    { title: 'is nothing to clients', as: 'hamlet', params: { token: 'abcd', appid: 'a' }, heard: [] },
  ],
  'DELETE /users/me/apns_device_token': [
    {
      title: 'is nothing to clients',
      as: 'hamlet',
      prepare: ({ server, people }) =>
        server.post('/users/me/apns_device_token', people.hamlet, { token: 'abcd', appid: 'a' }),
      params: { token: 'abcd' },
      heard: [],
    },
  ],
  'POST /users/me/android_gcm_reg_id': [
    { title: 'is nothing to clients', as: 'hamlet', params: { token: 'abcd' }, heard: [] },
  ],
  'DELETE /users/me/android_gcm_reg_id': [
    {
      title: 'is nothing to clients',
      as: 'hamlet',
      prepare: ({ server, people }) => server.post('/users/me/android_gcm_reg_id', people.hamlet, { token: 'abcd' }),
      params: { token: 'abcd' },
      heard: [],
    },
  ],
  'POST /mobile_push/test_notification': [{ title: 'changes nothing', as: 'hamlet', heard: [] }],
  'POST /mobile_push/e2ee/test_notification': [
    {
      title: 'to a device that is there no more',
      as: 'hamlet',
      prepare: async ({ server, people, pushService }) => {
        const { realmId } = server;
        pushService.goneTokenIds.push('AAAAAAAAAAE=');
        await server.storage.uow.write(realmId, async (tx) => {
          for (const tokenId of ['AAAAAAAAAAE=', 'AAAAAAAAAAI=']) {
            const device = await tx.devices.add({ realmId, userId: people.hamlet.id, ...NEW_DEVICE });
            const key = { id: 7, key: Buffer.from('1'.repeat(33)).toString('base64') };
            await tx.devices.update({ ...device, key, tokenId, tokenKind: 'fcm' });
          }
        });
      },
      heard: ['device/remove'],
    },
  ],
};

function addDevice({ server, people }: World): Promise<unknown> {
  return server.post('/register_client_device', people.hamlet);
}

async function deviceOf(server: TestServer, who: TestUser): Promise<number> {
  const { devices } = fieldsOf(await server.post('/register', who, { fetch_event_types: ['device'] }));
  return Number(Object.keys(devices!)[0]);
}
