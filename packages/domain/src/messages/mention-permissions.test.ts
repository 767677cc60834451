import { formatDecision, makeActor, makeGroup, makeRealm, makeSystemGroup, systemGroup, TEAM } from '@parley/testkit';
import { canMentionGroup } from '../groups/group-permissions.js';
import { canMention, canMentionMany, type Mentions } from './message-permissions.js';

const channel =
  'CHANNEL_WILDCARD_NOT_ALLOWED: You do not have permission to use channel wildcard mentions in this channel.';
const topic = 'TOPIC_WILDCARD_NOT_ALLOWED: You do not have permission to use topic wildcard mentions in this topic.';

describe('canMentionMany', () => {
  it.each`
    who                | inChannel  | inTopic
    ${'owner'}         | ${'yes'}   | ${'yes'}
    ${'administrator'} | ${'yes'}   | ${'yes'}
    ${'moderator'}     | ${channel} | ${topic}
    ${'member'}        | ${channel} | ${topic}
    ${'guest'}         | ${channel} | ${topic}
  `('applies the defaults to $who', ({ who, inChannel, inTopic }) => {
    expect(formatDecision(canMentionMany(makeActor(who), makeRealm(), 'channel'))).toBe(inChannel);
    expect(formatDecision(canMentionMany(makeActor(who), makeRealm(), 'topic'))).toBe(inTopic);
  });

  it('allows guests if everyone has the permission', () => {
    const realm = makeRealm({ permissionOverrides: { canMentionManyUsers: systemGroup.everyone } });
    expect(formatDecision(canMentionMany(makeActor('guest'), realm, 'channel'))).toBe('yes');
  });
});

describe('canMentionGroup', () => {
  const mayNot = "CANNOT_MENTION_GROUP: You are not allowed to mention user group 'actors'.";

  it('allows everyone by default', () => {
    expect(formatDecision(canMentionGroup(makeActor('guest'), makeGroup()))).toBe('yes');
  });

  it('allows only holders of the permission, not administrators in general', () => {
    const group = makeGroup({ permissionOverrides: { canMention: TEAM } });
    expect(formatDecision(canMentionGroup(makeActor('guest', { groups: [TEAM] }), group))).toBe('yes');
    expect(formatDecision(canMentionGroup(makeActor('owner'), group))).toBe(mayNot);
    // Group membership does not imply the permission.
    expect(formatDecision(canMentionGroup(makeActor('member', { groups: [group.id] }), group))).toBe(mayNot);
  });

  it('reports a system group by its `role:` name', () => {
    const members = {
      ...makeSystemGroup('members'),
      permissions: makeGroup({ permissionOverrides: { canMention: systemGroup.nobody } }).permissions,
    };
    expect(formatDecision(canMentionGroup(makeActor('owner'), members))).toBe(
      "CANNOT_MENTION_GROUP: You are not allowed to mention user group 'role:members'.",
    );
  });
});

/** Covers messages §3.2 rows 18–20, and §9.1 row 17 for edits. */
describe('canMention', () => {
  const none: Mentions = { channelSubscribers: 0, topicParticipants: 0, groups: [] };
  const open = makeGroup({ name: 'open' });
  const closed = makeGroup({ name: 'closed', permissionOverrides: { canMention: TEAM } });
  const shut = makeGroup({ name: 'shut', permissionOverrides: { canMention: systemGroup.nobody } });
  const group = (name: string) => `CANNOT_MENTION_GROUP: You are not allowed to mention user group '${name}'.`;

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
  `('decides if $who may use the mentions $mentions: $expected', ({ who, mentions, expected }) => {
    const actor = who === 'team' ? makeActor('member', { groups: [TEAM] }) : makeActor(who);
    expect(formatDecision(canMention(actor, makeRealm(), { ...none, ...mentions }))).toBe(expected);
  });
});
