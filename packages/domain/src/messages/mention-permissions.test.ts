import { answer, groupId, plainActor, plainGroup, plainRealm, plainSystemGroup, systemGroup } from '@parley/testkit';
import { canMentionGroup } from '../groups/group-permissions.js';
import { canMention, canMentionMany, type Mentions } from './mention-permissions.js';

const TEAM = groupId(50);

const channel =
  'CHANNEL_WILDCARD_NOT_ALLOWED: You do not have permission to use channel wildcard mentions in this channel.';
const topic = 'TOPIC_WILDCARD_NOT_ALLOWED: You do not have permission to use topic wildcard mentions in this topic.';

describe('mentioning many people at once', () => {
  it.each`
    who                | inChannel  | inTopic
    ${'owner'}         | ${'yes'}   | ${'yes'}
    ${'administrator'} | ${'yes'}   | ${'yes'}
    ${'moderator'}     | ${channel} | ${topic}
    ${'member'}        | ${channel} | ${topic}
    ${'guest'}         | ${channel} | ${topic}
  `('$who, by default', ({ who, inChannel, inTopic }) => {
    expect(answer(canMentionMany(plainActor(who), plainRealm(), 'channel'))).toBe(inChannel);
    expect(answer(canMentionMany(plainActor(who), plainRealm(), 'topic'))).toBe(inTopic);
  });

  it('guests too, where everyone may', () => {
    const realm = plainRealm({ grants: { canMentionManyUsers: systemGroup.everyone } });
    expect(answer(canMentionMany(plainActor('guest'), realm, 'channel'))).toBe('yes');
  });
});

describe('mentioning a group', () => {
  const mayNot = "NOT_PERMITTED: You are not allowed to mention user group 'actors'.";

  it('is for everyone by default', () => {
    expect(answer(canMentionGroup(plainActor('guest'), plainGroup()))).toBe('yes');
  });

  it('is for those it is given to, and no administrator beside them', () => {
    const group = plainGroup({ grants: { canMention: TEAM } });
    expect(answer(canMentionGroup(plainActor('guest', { groups: [TEAM] }), group))).toBe('yes');
    expect(answer(canMentionGroup(plainActor('owner'), group))).toBe(mayNot);
    // Being in the group is another thing.
    expect(answer(canMentionGroup(plainActor('member', { groups: [group.id] }), group))).toBe(mayNot);
  });

  it('names a system group as clients do', () => {
    const members = {
      ...plainSystemGroup('members'),
      permissions: plainGroup({ grants: { canMention: systemGroup.nobody } }).permissions,
    };
    expect(answer(canMentionGroup(plainActor('owner'), members))).toBe(
      "NOT_PERMITTED: You are not allowed to mention user group 'role:members'.",
    );
  });
});

/** Messages §3.2 rows 18–20, and §9.1 row 17 for a text that is changed. */
describe('what a message mentions', () => {
  const none: Mentions = { channelSubscribers: 0, topicParticipants: 0, groups: [] };
  const open = plainGroup({ name: 'open' });
  const closed = plainGroup({ name: 'closed', grants: { canMention: TEAM } });
  const shut = plainGroup({ name: 'shut', grants: { canMention: systemGroup.nobody } });
  const group = (name: string) => `NOT_PERMITTED: You are not allowed to mention user group '${name}'.`;

  it.each`
    who                | mentions                                               | expected
    ${'guest'}         | ${{}}                                                  | ${'yes'}
    ${'member'}        | ${{ channelSubscribers: 15 }}                          | ${'yes'}
    ${'member'}        | ${{ channelSubscribers: 16 }}                          | ${channel}
    ${'administrator'} | ${{ channelSubscribers: 16 }}                          | ${'yes'}
    ${'member'}        | ${{ topicParticipants: 15 }}                           | ${'yes'}
    ${'member'}        | ${{ topicParticipants: 16 }}                           | ${topic}
    ${'administrator'} | ${{ topicParticipants: 16 }}                           | ${'yes'}
    ${'member'}        | ${{ groups: [open] }}                                  | ${'yes'}
    ${'member'}        | ${{ groups: [open, closed, shut] }}                    | ${group('closed')}
    ${'team'}          | ${{ groups: [open, closed] }}                          | ${'yes'}
    ${'team'}          | ${{ groups: [open, closed, shut] }}                    | ${group('shut')}
    ${'owner'}         | ${{ groups: [shut] }}                                  | ${group('shut')}
    ${'member'}        | ${{ channelSubscribers: 16, groups: [shut] }}          | ${channel}
    ${'member'}        | ${{ topicParticipants: 16, groups: [shut] }}           | ${topic}
    ${'member'}        | ${{ channelSubscribers: 9e9, topicParticipants: 9e9 }} | ${channel}
  `('$mentions by $who: $expected', ({ who, mentions, expected }) => {
    const actor = who === 'team' ? plainActor('member', { groups: [TEAM] }) : plainActor(who);
    expect(answer(canMention(actor, plainRealm(), { ...none, ...mentions }))).toBe(expected);
  });
});
