import type { ChannelView, Subscription } from '@parley/domain/channels';
import { aChannel, aUser, createFixture, type MemoryFixture } from '@parley/testkit';
import {
  channelText,
  presentChannel,
  presentSubscribeUsers,
  presentSubscription,
  presentTopic,
  sharedChannels,
} from './channel.presenters.js';

describe('presentChannel', () => {
  let fixture: MemoryFixture;
  let view: ChannelView;
  let row: Subscription;
  beforeAll(async () => {
    fixture = await createFixture(
      aUser({ name: 'hamlet' }),
      aChannel({ name: 'general', creator: 'hamlet', subscribers: ['hamlet'] }),
    );
    const { realm } = fixture;
    [[view], [row]] = await fixture.uow.read(realm.id, async ({ channels }) => [
      (await channels.listViews(realm.id, [fixture.channel('general').id])) as [ChannelView],
      (await channels.listSubscriptions(realm.id, fixture.user('hamlet').id)) as [Subscription],
    ]);
  });

  const PERMISSIONS = [
    'can_add_subscribers_group',
    'can_administer_channel_group',
    'can_create_topic_group',
    'can_delete_any_message_group',
    'can_delete_own_message_group',
    'can_move_messages_out_of_channel_group',
    'can_move_messages_within_channel_group',
    'can_remove_subscribers_group',
    'can_resolve_topics_group',
    'can_send_message_group',
    'can_subscribe_group',
  ];
  const KEYS = [
    ...PERMISSIONS,
    'stream_id',
    'name',
    'is_archived',
    'description',
    'rendered_description',
    'date_created',
    'creator_id',
    'invite_only',
    'is_web_public',
    'history_public_to_subscribers',
    'stream_post_policy',
    'is_announcement_only',
    'message_retention_days',
    'topics_policy',
    'first_message_id',
    'folder_id',
    'is_recently_active',
    'subscriber_count',
    'stream_weekly_traffic',
  ].sort();

  it('presents the same fields as the text used in lists', () => {
    expect(JSON.parse(channelText(view).json)).toEqual(presentChannel(view));
    const { textOf } = sharedChannels([view]);
    expect(JSON.parse(textOf(view, 0))).toEqual(presentChannel(view));
    const renamed = { ...view, name: 'renamed' };
    expect(JSON.parse(textOf(renamed, 0))).toEqual(presentChannel(renamed));
  });

  it('presents exactly the fields of the contract', () => {
    expect(Object.keys(presentChannel(view)).sort()).toEqual(KEYS);
    expect(presentChannel(view)).toMatchObject({
      name: 'general',
      creator_id: fixture.user('hamlet').id,
      can_administer_channel_group: { direct_members: [fixture.user('hamlet').id], direct_subgroups: [] },
      subscriber_count: 1,
      message_retention_days: null,
    });
  });

  it('escapes every text field', () => {
    const text = 'a "quoted" \\ line\n\u2028 \u0000 é 🎉 \ud800';
    const full = {
      ...view,
      name: text,
      description: text,
      renderedDescription: text,
      isArchived: true,
      creatorId: null,
      messageRetentionDays: 'forever',
      topicsPolicy: 'emptyTopicOnly',
      folderId: 5,
      firstMessageId: 6,
      isRecentlyActive: false,
      subscriberCount: 7,
      weeklyTraffic: null,
    } as ChannelView;
    expect(presentChannel(full)).toEqual({
      ...presentChannel(view),
      stream_id: view.id,
      name: text,
      is_archived: true,
      description: text,
      rendered_description: text,
      date_created: view.createdAt,
      creator_id: null,
      message_retention_days: -1,
      topics_policy: 'empty_topic_only',
      first_message_id: 6,
      folder_id: 5,
      is_recently_active: false,
      subscriber_count: 7,
      stream_weekly_traffic: null,
    });
  });

  it.each`
    privacy                      | inviteOnly | webPublic | sharedHistory
    ${'webPublic'}               | ${false}   | ${true}   | ${true}
    ${'public'}                  | ${false}   | ${false}  | ${true}
    ${'privateSharedHistory'}    | ${true}    | ${false}  | ${true}
    ${'privateProtectedHistory'} | ${true}    | ${false}  | ${false}
  `('presents privacy as $privacy', ({ privacy, inviteOnly, webPublic, sharedHistory }) => {
    expect(presentChannel({ ...view, privacy })).toMatchObject({
      invite_only: inviteOnly,
      is_web_public: webPublic,
      history_public_to_subscribers: sharedHistory,
    });
  });

  it.each`
    senders             | policy | announcementOnly
    ${'everyone'}       | ${1}   | ${false}
    ${'administrators'} | ${2}   | ${true}
    ${'fullMembers'}    | ${3}   | ${false}
    ${'moderators'}     | ${4}   | ${false}
    ${null}             | ${1}   | ${false}
  `('presents the legacy post policy $policy for $senders', ({ senders, policy, announcementOnly }) => {
    expect(presentChannel({ ...view, sendersSystemGroup: senders })).toMatchObject({
      stream_post_policy: policy,
      is_announcement_only: announcementOnly,
    });
  });

  it('adds the personal settings of a subscription', () => {
    const subscription = { ...row, isMuted: true, isPinned: true, color: '#a6c7e5' };
    const wire = JSON.parse(presentSubscription(view, subscription, null).json);
    expect(Object.keys(wire).sort()).toEqual(
      [
        ...KEYS,
        'color',
        'is_muted',
        'in_home_view',
        'pin_to_top',
        'desktop_notifications',
        'audible_notifications',
        'push_notifications',
        'email_notifications',
        'wildcard_mentions_notify',
      ].sort(),
    );
    expect(wire).toMatchObject({ is_muted: true, in_home_view: false, pin_to_top: true, push_notifications: null });
    expect(JSON.parse(presentSubscription(view, subscription, []).json)).toMatchObject({ subscribers: [] });
  });
});

describe('presentSubscribeUsers', () => {
  const output = {
    subscribed: new Map([[7, ['general']]]),
    alreadySubscribed: new Map(),
    inaccessible: ['secret'],
    areNewSubscribersNotified: true,
  } as never;

  it.each`
    fatal    | tell     | more
    ${true}  | ${true}  | ${{ new_subscription_messages_sent: true }}
    ${true}  | ${false} | ${{}}
    ${false} | ${false} | ${{ unauthorized: ['secret'] }}
  `('applies authorization_errors_fatal=$fatal and send_new_subscription_messages=$tell', ({ fatal, tell, more }) => {
    const asked = { authorization_errors_fatal: fatal, send_new_subscription_messages: tell };
    expect(presentSubscribeUsers(output, asked)).toEqual({
      subscribed: { '7': ['general'] },
      already_subscribed: {},
      ...more,
    });
  });
});

it.each`
  topic      | allowed  | shown
  ${''}      | ${false} | ${'general chat'}
  ${''}      | ${true}  | ${''}
  ${'lunch'} | ${false} | ${'lunch'}
`('presentTopic presents "$topic" as "$shown" (empty topic allowed: $allowed)', ({ topic, allowed, shown }) => {
  expect(presentTopic(topic, allowed)).toBe(shown);
});
