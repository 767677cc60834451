import type { I18n } from '@lingui/core';
import { type Chat, type ConversationRow, type Destination, destinationKey, type TopicPolicy } from '@parley/chat';
import type { ParleyClient } from '@parley/client';
import { signal } from '@preact/signals-core';
import { reportFailure } from '../services/failures.js';
import type { LastRow } from './row-keys.js';

/** Maximum messages per call. */
const MAX_PER_CALL = 1000;
const MAX_UNDO = 20;

interface Done {
  readonly text: string;
  /** Row that had the focus. */
  readonly row: string | null;
  undo(): Promise<unknown>;
}

type Topic = Extract<Destination, { kind: 'channel' }>;

const topicsOf = (rows: readonly ConversationRow[]): readonly Topic[] =>
  rows.flatMap(({ destination }) => (destination.kind === 'channel' ? [destination] : []));

/** Undoable commands for listed conversations. */
export class TriageActions {
  /** Latest command; null once it is undone. */
  readonly last = signal<Done | null>(null);
  /** Row with the focus, for the next command. */
  row: string | null = null;
  private readonly done: Done[] = [];

  constructor(
    private readonly chat: Chat,
    private readonly client: ParleyClient,
    private readonly i18n: I18n,
  ) {}

  /** Marks the unread messages of the rows as read. */
  markRead(rows: readonly ConversationRow[]): Promise<void> {
    const { byDestination } = this.chat.state.unread;
    const ids = rows.flatMap(({ destination }) => [...(byDestination.get(destinationKey(destination)) ?? [])]);
    if (ids.length === 0) return Promise.resolve();
    return this.run(
      this.i18n._('Marked as read'),
      () => this.flag(ids, 'add'),
      () => this.flag(ids, 'remove'),
    );
  }

  mute(rows: readonly ConversationRow[]): Promise<void> {
    return this.setPolicy(rows, 'muted', this.i18n._('Topic muted'));
  }

  /** Follows the topics, or unfollows them if all of them are followed. */
  toggleFollow(rows: readonly ConversationRow[]): Promise<void> {
    const areFollowed = topicsOf(rows).every((topic) => this.policyOf(topic) === 'followed');
    const text = areFollowed ? this.i18n._('Topic unfollowed') : this.i18n._('Topic followed');
    return this.setPolicy(rows, areFollowed ? 'none' : 'followed', text);
  }

  /** Reverts the latest command. The row that had the focus then gets the focus again. */
  async undo(focus?: LastRow): Promise<void> {
    const latest = this.done.pop();
    this.last.value = null;
    if (focus) focus.awaited = latest?.row ?? null;
    await latest?.undo().catch(reportFailure);
  }

  private policyOf({ channelId, topic }: Topic): TopicPolicy {
    return this.chat.sidebar.policyOf(channelId, topic);
  }

  private async setPolicy(rows: readonly ConversationRow[], policy: TopicPolicy, text: string): Promise<void> {
    const { commands } = this.chat;
    const before = topicsOf(rows).map((topic) => ({ topic, policy: this.policyOf(topic) }));
    if (before.length === 0) return;
    await this.run(
      before.length === 1 ? text : `${text} (${this.i18n.number(before.length)})`,
      async () => {
        for (const { topic } of before) await commands.setTopicPolicy(topic, policy);
      },
      async () => {
        for (const each of before) await commands.setTopicPolicy(each.topic, each.policy);
      },
    );
  }

  /** Offers the undo at once; it waits for the end of the command. */
  private async run(text: string, apply: () => Promise<unknown>, revert: () => Promise<unknown>): Promise<void> {
    const applied = apply();
    const done: Done = { text, row: this.row, undo: () => applied.then(revert, () => undefined) };
    this.row = null;
    this.done.push(done);
    if (this.done.length > MAX_UNDO) this.done.shift();
    this.last.value = done;
    try {
      await applied;
    } catch (error) {
      reportFailure(error);
      const at = this.done.indexOf(done);
      if (at !== -1) this.done.splice(at, 1);
      if (this.last.peek() === done) this.last.value = null;
    }
  }

  private async flag(ids: readonly number[], op: 'add' | 'remove'): Promise<void> {
    for (let at = 0; at < ids.length; at += MAX_PER_CALL) {
      await this.client.post('/messages/flags', { messages: ids.slice(at, at + MAX_PER_CALL), op, flag: 'read' });
    }
  }
}
