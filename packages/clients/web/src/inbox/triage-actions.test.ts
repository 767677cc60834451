import { setupI18n } from '@lingui/core';
import { Chat, type ConversationRow, destinationKey } from '@parley/chat';
import { ParleyError } from '@parley/client';
import { lastFailure } from '../services/failures.js';
import { TriageActions } from './triage-actions.js';

const row = (topic: string): ConversationRow => {
  const destination = { kind: 'channel', channelId: 5, topic } as const;
  return { key: `5:${topic}`, destination, lastMessageId: 0, unread: { count: 0, hasMention: false } };
};

/** Actions on topics with the given unread messages, and the calls that they make. */
function actionsOn(unread: Readonly<Record<string, readonly number[]>>, answer: Promise<object> = Promise.resolve({})) {
  const calls: unknown[] = [];
  const gateway = {
    post: (path: string, params: object) => {
      calls.push([path, params]);
      return answer;
    },
  };
  const chat = new Chat({ gateway: gateway as never });
  for (const [topic, ids] of Object.entries(unread)) {
    chat.state.unread.byDestination.set(destinationKey(row(topic).destination), new Set(ids));
  }
  const i18n = setupI18n({ locale: 'en', messages: { en: {} } });
  return { actions: new TriageActions(chat, gateway as never, i18n), chat, calls };
}

const flags = (op: 'add' | 'remove', messages: readonly number[]) => [
  '/messages/flags',
  { messages, op, flag: 'read' },
];

describe('actions on conversations', () => {
  it('mark exactly the counted messages as read, and as unread again', async () => {
    const { actions, calls } = actionsOn({ one: [1, 2], two: [3], other: [4] });
    await actions.markRead([row('one'), row('two')]);
    expect(actions.last.value?.text).toBe('Marked as read');
    await actions.undo();
    expect(calls).toEqual([flags('add', [1, 2, 3]), flags('remove', [1, 2, 3])]);
    expect(actions.last.value).toBeNull();
  });

  it('split thousands of messages into several calls', async () => {
    const ids = Array.from({ length: 1500 }, (_, index) => index + 1);
    const { actions, calls } = actionsOn({ long: ids });
    await actions.markRead([row('long')]);
    expect(calls).toEqual([flags('add', ids.slice(0, 1000)), flags('add', ids.slice(1000))]);
  });

  it('follow all topics of a selection, and restore the policy of each', async () => {
    const { actions, chat } = actionsOn({});
    const policies = () => ['one', 'two'].map((topic) => chat.sidebar.policyOf(5, topic));
    await actions.toggleFollow([row('one')]);
    await actions.toggleFollow([row('one'), row('two')]);
    expect(policies()).toEqual(['followed', 'followed']);
    expect(actions.last.value?.text).toBe('Topic followed (2)');
    await actions.undo();
    expect(policies()).toEqual(['followed', 'none']);
    await actions.mute([row('one'), row('two')]);
    expect(policies()).toEqual(['muted', 'muted']);
  });

  it('restore the former policy of a topic', async () => {
    const { actions, chat } = actionsOn({});
    const policy = () => chat.sidebar.policyOf(5, 'one');
    await actions.toggleFollow([row('one')]);
    expect(policy()).toBe('followed');
    await actions.mute([row('one')]);
    expect(policy()).toBe('muted');
    await actions.toggleFollow([row('one')]);
    await actions.toggleFollow([row('one')]);
    expect(policy()).toBe('none');
    await actions.undo();
    await actions.undo();
    expect(policy()).toBe('muted');
    await actions.undo();
    expect(policy()).toBe('followed');
    await actions.undo();
    await actions.undo();
    expect(policy()).toBe('none');
  });

  it('are undone after the server has answered, even if the undo was requested earlier', async () => {
    let answer = (_: object) => {};
    const { actions, calls } = actionsOn({ one: [1] }, new Promise((resolve) => (answer = resolve)));
    void actions.markRead([row('one')]);
    expect(actions.last.value?.text).toBe('Marked as read');
    const undone = actions.undo();
    expect(calls).toEqual([flags('add', [1])]);
    answer({});
    await undone;
    expect(calls).toEqual([flags('add', [1]), flags('remove', [1])]);
  });

  it('offer no undo for a refused command, and report it', async () => {
    const refusal = new ParleyError('No', 'BAD_REQUEST', 400);
    const { actions, chat } = actionsOn({ one: [1] }, Promise.reject(refusal));
    await actions.markRead([row('one')]);
    await actions.mute([row('one')]);
    expect(actions.last.value).toBeNull();
    expect(chat.sidebar.policyOf(5, 'one')).toBe('none');
    expect(lastFailure.value).toBe(refusal);
  });
});
