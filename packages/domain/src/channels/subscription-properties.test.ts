import { channelId, userId } from '@parley/testkit';
import type { RealmId } from '../kernel/ids.js';
import {
  changeSubscription,
  INHERITED_NOTIFICATIONS,
  SUBSCRIPTION_PROPERTIES,
  type Subscription,
} from './subscriptions.js';

const subscription: Subscription = {
  realmId: 1 as RealmId,
  channelId: channelId(2),
  userId: userId(3),
  isActive: true,
  color: '#76ce90',
  isMuted: false,
  isPinned: false,
  notifications: INHERITED_NOTIFICATIONS,
};

describe('subscription property (channels §4.9)', () => {
  it.each`
    property       | value     | change                                     | stored
    ${'color'}     | ${'#ABC'} | ${{ property: 'color', value: '#aabbcc' }} | ${{ color: '#aabbcc' }}
    ${'isMuted'}   | ${true}   | ${{ property: 'isMuted', value: true }}    | ${{ isMuted: true }}
    ${'isUnmuted'} | ${true}   | ${{ property: 'isMuted', value: false }}   | ${{ isMuted: false }}
    ${'isPinned'}  | ${true}   | ${{ property: 'isPinned', value: true }}   | ${{ isPinned: true }}
    ${'desktop'}   | ${false}  | ${{ property: 'desktop', value: false }}   | ${{ notifications: { ...INHERITED_NOTIFICATIONS, desktop: false } }}
    ${'push'}      | ${true}   | ${{ property: 'push', value: true }}       | ${{ notifications: { ...INHERITED_NOTIFICATIONS, push: true } }}
  `('changes $property to $value', ({ property, value, change, stored }) => {
    expect(changeSubscription(subscription, property, value)).toEqual({
      subscription: { ...subscription, ...stored },
      change,
    });
  });

  it.each(SUBSCRIPTION_PROPERTIES)('rejects an invalid %s', (property) => {
    for (const value of [null, 7]) {
      expect(() => changeSubscription(subscription, property, value)).toThrow(
        expect.objectContaining({ code: 'INVALID_SUBSCRIPTION_VALUE' }),
      );
    }
  });

  it.each(['', 'red', '#12', '#1234567', '#12345g'])('rejects the color %j', (color) => {
    expect(() => changeSubscription(subscription, 'color', color)).toThrow(
      expect.objectContaining({ code: 'INVALID_COLOR' }),
    );
  });
});
