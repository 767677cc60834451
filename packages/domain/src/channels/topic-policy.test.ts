import { followsWhenMentioned, type TopicVisibility, visibilityAfterSending } from './topic-policy.js';

describe('what sending does to the sender’s wish for a topic', () => {
  it.each`
    follow | unmute | current       | mutedChannel | starts   | becomes
    ${1}   | ${4}   | ${'inherit'}  | ${false}     | ${false} | ${'followed'}
    ${2}   | ${4}   | ${'inherit'}  | ${false}     | ${false} | ${'followed'}
    ${2}   | ${4}   | ${'muted'}    | ${false}     | ${false} | ${'followed'}
    ${2}   | ${4}   | ${'followed'} | ${false}     | ${false} | ${null}
    ${3}   | ${4}   | ${'inherit'}  | ${false}     | ${true}  | ${'followed'}
    ${3}   | ${4}   | ${'inherit'}  | ${false}     | ${false} | ${null}
    ${3}   | ${4}   | ${'muted'}    | ${false}     | ${true}  | ${null}
    ${4}   | ${2}   | ${'inherit'}  | ${true}      | ${false} | ${'unmuted'}
    ${4}   | ${1}   | ${'inherit'}  | ${true}      | ${false} | ${'unmuted'}
    ${4}   | ${2}   | ${'inherit'}  | ${false}     | ${false} | ${null}
    ${4}   | ${2}   | ${'muted'}    | ${true}      | ${false} | ${'unmuted'}
    ${4}   | ${2}   | ${'unmuted'}  | ${true}      | ${false} | ${null}
    ${4}   | ${3}   | ${'inherit'}  | ${true}      | ${true}  | ${'unmuted'}
    ${4}   | ${3}   | ${'inherit'}  | ${true}      | ${false} | ${null}
    ${3}   | ${3}   | ${'inherit'}  | ${true}      | ${true}  | ${'followed'}
    ${4}   | ${4}   | ${'inherit'}  | ${true}      | ${true}  | ${null}
  `(
    'follow by $follow, unmute by $unmute, now $current, channel muted $mutedChannel, starts it $starts: $becomes',
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

describe('what a mention does', () => {
  it.each([
    ['inherit', true],
    ['unmuted', true],
    ['muted', false],
    ['followed', false],
  ] as [TopicVisibility, boolean][])('to a topic that is %s: follows it %s', (current, follows) => {
    expect(followsWhenMentioned({ automaticallyFollowTopicsWhereMentioned: true }, current)).toBe(follows);
    expect(followsWhenMentioned({ automaticallyFollowTopicsWhereMentioned: false }, current)).toBe(false);
  });
});
