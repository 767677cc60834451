import { makeActor, makeChannel, makeMembership, TEAM, tableRows } from '@parley/testkit';
import type { Role } from '../access/roles.js';
import { isInAudience } from '../composition/features.js';
import type { ChannelPrivacy } from './channel.js';
import { firstAudience } from './channel-delivery.js';

describe('audience of a new channel without subscribers (channels §6.1)', () => {
  it.each(
    tableRows(`
      who            | webPublic | public | privateSharedHistory | privateProtectedHistory
      owner          | yes       | yes    | yes                  | yes
      administrator  | yes       | yes    | yes                  | yes
      moderator      | yes       | yes    | no                   | no
      member         | yes       | yes    | no                   | no
      member in team | yes       | yes    | yes                  | yes
      guest          | yes       | no     | no                   | no
      guest in team  | yes       | no     | no                   | no
    `),
  )('decides if it includes a %s when a %s channel is created: %s', (who, privacy, expected) => {
    const actor = makeActor(who.split(' ')[0] as Role, { groups: who.includes('team') ? [TEAM] : [] });
    for (const permission of ['canAdministerChannel', 'canAddSubscribers', 'canSubscribe'] as const) {
      const channel = makeChannel({ privacy: privacy as ChannelPrivacy, permissionOverrides: { [permission]: TEAM } });
      const hears = isInAudience(firstAudience(channel), makeMembership(actor, { isSubscribed: () => true }));
      expect(hears ? 'yes' : 'no').toBe(expected);
    }
  });
});
