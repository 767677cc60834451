import { makeActor, makeChannel, makeMembership, tableRows } from '@parley/testkit';
import type { Role } from '../access/roles.js';
import type { ChannelPrivacy } from '../channels/channel.js';
import { isInAudience } from '../composition/features.js';
import type { ChannelId, GroupId, MessageId, UserId } from '../kernel/ids.js';
import { receiversAfterMove, receiversLostByMove, watchersOfUpdate } from './message-delivery.js';

const GROUP = 900 as GroupId;

/** K: receives the move; L: receives a deletion; –: receives nothing. */
describe('audience of a move to another channel (messages §9.4)', () => {
  it.each(
    tableRows(`
      who                       | webPublic | public | privateSharedHistory | privateProtectedHistory
      member, in both           | K         | K      | K                    | K
      member, in the target     | K         | K      | K                    | K
      member, in the source     | K         | K      | L                    | L
      member, has it            | K         | K      | L                    | L
      member                    | –         | –      | –                    | –
      owner, in the source      | K         | K      | L                    | L
      guest, in both            | K         | K      | K                    | K
      guest, in the target      | K         | K      | K                    | K
      guest, in the source      | L         | L      | L                    | L
      guest, has it             | –         | –      | –                    | –
      guest                     | –         | –      | –                    | –
    `),
  )('decides for %s, moved to %s: %s', (who, privacy, expected) => {
    const source = makeChannel({ id: 1 as ChannelId });
    const target = makeChannel({ id: 2 as ChannelId, privacy: privacy as ChannelPrivacy });
    const actor = makeActor(who.split(',')[0] as Role);
    const isIn = (channel: string) => who.includes('in both') || who.includes(`in the ${channel}`);
    const member = makeMembership(actor, {
      isSubscribed: (id) => (id === source.id ? isIn('source') : isIn('target')),
    });
    const outside: UserId[] = who.includes('has it') ? [actor.id] : [];
    const keeps = isInAudience(receiversAfterMove(source, target, outside), member);
    const loses = isInAudience(receiversLostByMove(source, target, outside), member);
    expect(keeps && loses).toBe(false);
    expect(keeps ? 'K' : loses ? 'L' : '–').toBe(expected);
  });
});

it.each<[string, readonly GroupId[], boolean]>([
  ['keeps the deletion from a former subscriber of a private channel', [], false],
  ['sends the deletion to a holder who may subscribe to the private channel', [GROUP], true],
])('%s when a message moves to another private channel', (_, groups, expected) => {
  const source = makeChannel({
    id: 1 as ChannelId,
    privacy: 'privateSharedHistory',
    permissionOverrides: { canSubscribe: GROUP },
  });
  const target = makeChannel({ id: 2 as ChannelId, privacy: 'privateSharedHistory' });
  const actor = makeActor('member', { groups });
  const audience = receiversLostByMove(source, target, [actor.id]);
  expect(isInAudience(audience, makeMembership(actor, { isSubscribed: () => false }))).toBe(expected);
});

describe('watchersOfUpdate (messages §18.2)', () => {
  it.each(
    tableRows(`
      who                        | public | privateSharedHistory | privateProtectedHistory | direct
      member, subscribed         | yes    | yes                  | yes                     | no
      member, has it             | yes    | no                   | no                      | yes
      guest, has it              | no     | no                   | no                      | yes
      member                     | no     | no                   | no                      | no
    `),
  )('decides if %s is in the audience of an updated %s message: %s', (who, kind, expected) => {
    const channel = kind === 'direct' ? null : makeChannel({ privacy: kind as ChannelPrivacy });
    const member = makeMembership(makeActor(who.split(',')[0] as Role), {
      isSubscribed: () => who.includes('subscribed'),
      holds: () => who.includes('has it'),
    });
    const hears = isInAudience(watchersOfUpdate({ id: 7 as MessageId }, channel), member);
    expect(hears ? 'yes' : 'no').toBe(expected);
  });
});
