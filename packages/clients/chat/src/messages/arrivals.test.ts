import type { InitialState, MessageEvent } from '@parley/client';
import { ChatState, topicKey } from '../kernel/state.js';
import { arrivalOf } from './arrivals.js';

const SELF = 1;
const QUIET = {
  enable_desktop_notifications: false,
  enable_sounds: false,
  enable_stream_desktop_notifications: false,
  enable_stream_audible_notifications: false,
  enable_followed_topic_desktop_notifications: false,
  enable_followed_topic_audible_notifications: false,
  enable_followed_topic_wildcard_mentions_notify: false,
  wildcard_mentions_notify: false,
  pm_content_in_desktop_notifications: true,
};

type Settings = typeof QUIET;

function stateWith(settings: Partial<Settings>, own: object = {}, policy = 0): ChatState {
  const state = new ChatState();
  state.fields.set('user_id', SELF);
  state.fields.set('user_settings', { ...QUIET, ...settings } as unknown as NonNullable<InitialState['user_settings']>);
  state.channels.set(5, { channel: {}, own, membership: 'subscribed' } as never);
  if (policy > 0) state.policies.set(topicKey(5, 'news'), { visibility_policy: policy } as never);
  return state;
}

const event = (flags: readonly string[], more: object = {}): MessageEvent =>
  ({
    type: 'message',
    flags,
    message: { id: 9, sender_id: 2, stream_id: 5, subject: 'news', content: '<p>x</p>', avatar_url: null, ...more },
  }) as unknown as MessageEvent;

const direct = event([], { stream_id: undefined, display_recipient: [{ id: SELF }, { id: 2 }] });

const resultOf = (state: ChatState, message: MessageEvent) => {
  const arrival = arrivalOf(state, message);
  return arrival && [arrival.isShown, arrival.isHeard];
};

describe('arrivalOf', () => {
  it('follows the settings of direct messages and mentions', () => {
    expect(resultOf(stateWith({}), direct)).toBeNull();
    expect(resultOf(stateWith({ enable_desktop_notifications: true }), direct)).toEqual([true, false]);
    expect(resultOf(stateWith({ enable_sounds: true }), event(['mentioned']))).toEqual([false, true]);
    expect(resultOf(stateWith({ enable_sounds: true }), event([]))).toBeNull();
  });

  it('ignores own messages and messages that are already read', () => {
    const state = stateWith({ enable_desktop_notifications: true });
    expect(resultOf(state, event(['mentioned'], { sender_id: SELF }))).toBeNull();
    expect(resultOf(state, event(['mentioned', 'read']))).toBeNull();
  });

  it('prefers channel settings over global settings unless the topic is muted', () => {
    const everywhere = { enable_stream_desktop_notifications: true };
    expect(resultOf(stateWith(everywhere), event([]))).toEqual([true, false]);
    expect(resultOf(stateWith(everywhere, { desktop_notifications: false }), event([]))).toBeNull();
    expect(resultOf(stateWith({}, { audible_notifications: true }), event([]))).toEqual([false, true]);
    expect(resultOf(stateWith(everywhere, {}, 1), event([]))).toBeNull();
  });

  it('plays a sound according to the settings of all channels and of followed topics', () => {
    const everywhere = { enable_stream_audible_notifications: true };
    expect(resultOf(stateWith(everywhere), event([]))).toEqual([false, true]);
    expect(resultOf(stateWith(everywhere, { audible_notifications: false }), event([]))).toBeNull();
    const followed = { enable_followed_topic_audible_notifications: true };
    expect(resultOf(stateWith(followed, {}, 3), event([]))).toEqual([false, true]);
    expect(resultOf(stateWith(followed), event([]))).toBeNull();
  });

  it('announces a wildcard mention in a followed topic if only those are enabled', () => {
    const settings = { enable_desktop_notifications: true, enable_followed_topic_wildcard_mentions_notify: true };
    expect(resultOf(stateWith(settings, {}, 3), event(['topic_wildcard_mentioned']))).toEqual([true, false]);
    expect(resultOf(stateWith(settings), event(['topic_wildcard_mentioned']))).toBeNull();
  });

  it('announces messages in followed topics, and wildcard mentions to everyone if enabled', () => {
    expect(resultOf(stateWith({ enable_followed_topic_desktop_notifications: true }, {}, 3), event([]))).toEqual([
      true,
      false,
    ]);
    const all = { enable_desktop_notifications: true, wildcard_mentions_notify: true };
    expect(resultOf(stateWith(all), event(['stream_wildcard_mentioned']))).toEqual([true, false]);
    expect(
      resultOf(stateWith(all, { wildcard_mentions_notify: false }), event(['stream_wildcard_mentioned'])),
    ).toBeNull();
  });

  it('hides the message text if the settings require it', () => {
    const state = stateWith({ enable_desktop_notifications: true, pm_content_in_desktop_notifications: false });
    expect(arrivalOf(state, direct)).toMatchObject({ html: null });
  });
});
