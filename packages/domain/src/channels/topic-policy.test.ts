import {
  followsWhenMentioned,
  moreVisible,
  type TopicVisibility,
  visibilityAfterParticipating,
  visibilityAfterSending,
} from './topic-policies.js';

describe('visibilityAfterSending', () => {
  it.each`
    follow             | unmute             | current       | mutedChannel | starts   | becomes
    ${'participating'} | ${'never'}         | ${'inherit'}  | ${false}     | ${false} | ${'followed'}
    ${'sending'}       | ${'never'}         | ${'inherit'}  | ${false}     | ${false} | ${'followed'}
    ${'sending'}       | ${'never'}         | ${'muted'}    | ${false}     | ${false} | ${'followed'}
    ${'sending'}       | ${'never'}         | ${'followed'} | ${false}     | ${false} | ${null}
    ${'starting'}      | ${'never'}         | ${'inherit'}  | ${false}     | ${true}  | ${'followed'}
    ${'starting'}      | ${'never'}         | ${'inherit'}  | ${false}     | ${false} | ${null}
    ${'starting'}      | ${'never'}         | ${'muted'}    | ${false}     | ${true}  | ${null}
    ${'never'}         | ${'sending'}       | ${'inherit'}  | ${true}      | ${false} | ${'unmuted'}
    ${'never'}         | ${'participating'} | ${'inherit'}  | ${true}      | ${false} | ${'unmuted'}
    ${'never'}         | ${'sending'}       | ${'inherit'}  | ${false}     | ${false} | ${null}
    ${'never'}         | ${'sending'}       | ${'muted'}    | ${true}      | ${false} | ${'unmuted'}
    ${'never'}         | ${'sending'}       | ${'unmuted'}  | ${true}      | ${false} | ${null}
    ${'never'}         | ${'starting'}      | ${'inherit'}  | ${true}      | ${true}  | ${'unmuted'}
    ${'never'}         | ${'starting'}      | ${'inherit'}  | ${true}      | ${false} | ${null}
    ${'starting'}      | ${'starting'}      | ${'inherit'}  | ${true}      | ${true}  | ${'followed'}
    ${'never'}         | ${'never'}         | ${'inherit'}  | ${true}      | ${true}  | ${null}
  `(
    'returns $becomes with follow $follow, unmute $unmute, current $current, channel muted $mutedChannel, starts topic $starts',
    ({ follow, unmute, current, mutedChannel, starts, becomes }) => {
      const settings = {
        automaticallyFollowTopicsPolicy: follow,
        automaticallyUnmuteTopicsInMutedChannelsPolicy: unmute,
      };
      const participation = { settings, current, hasMutedChannel: mutedChannel, startsTopic: starts };
      expect(visibilityAfterSending(participation)).toBe(becomes);
    },
  );
});

describe('visibilityAfterParticipating', () => {
  it.each`
    follow             | unmute             | current       | mutedChannel | becomes
    ${'participating'} | ${'participating'} | ${'inherit'}  | ${true}      | ${'followed'}
    ${'participating'} | ${'never'}         | ${'muted'}    | ${false}     | ${'followed'}
    ${'participating'} | ${'never'}         | ${'unmuted'}  | ${false}     | ${'followed'}
    ${'participating'} | ${'never'}         | ${'followed'} | ${false}     | ${null}
    ${'sending'}       | ${'sending'}       | ${'inherit'}  | ${true}      | ${null}
    ${'starting'}      | ${'starting'}      | ${'inherit'}  | ${true}      | ${null}
    ${'never'}         | ${'participating'} | ${'inherit'}  | ${true}      | ${'unmuted'}
    ${'never'}         | ${'participating'} | ${'inherit'}  | ${false}     | ${null}
    ${'never'}         | ${'participating'} | ${'unmuted'}  | ${true}      | ${null}
    ${'never'}         | ${'participating'} | ${'followed'} | ${true}      | ${null}
  `(
    'returns $becomes with follow $follow, unmute $unmute, current $current, channel muted $mutedChannel',
    ({ follow, unmute, current, mutedChannel, becomes }) => {
      const settings = {
        automaticallyFollowTopicsPolicy: follow,
        automaticallyUnmuteTopicsInMutedChannelsPolicy: unmute,
      };
      expect(visibilityAfterParticipating({ settings, current, hasMutedChannel: mutedChannel })).toBe(becomes);
    },
  );
});

describe('followsWhenMentioned', () => {
  it.each([
    ['inherit', true],
    ['unmuted', true],
    ['muted', false],
    ['followed', false],
  ] as [TopicVisibility, boolean][])('decides for a topic that is %s: %s', (current, follows) => {
    expect(followsWhenMentioned({ automaticallyFollowTopicsWhereMentioned: true }, current)).toBe(follows);
    expect(followsWhenMentioned({ automaticallyFollowTopicsWhereMentioned: false }, current)).toBe(false);
  });
});

describe('moreVisible (messages §9.3)', () => {
  it.each`
    one          | other         | becomes
    ${'muted'}   | ${'inherit'}  | ${'inherit'}
    ${'inherit'} | ${'unmuted'}  | ${'unmuted'}
    ${'unmuted'} | ${'followed'} | ${'followed'}
    ${'muted'}   | ${'followed'} | ${'followed'}
    ${'muted'}   | ${'muted'}    | ${'muted'}
  `('returns $becomes for $one and $other', ({ one, other, becomes }) => {
    expect([moreVisible(one, other), moreVisible(other, one)]).toEqual([becomes, becomes]);
  });
});
