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

  mute({ destination }: ConversationRow): Promise<void> {
    return this.setPolicy(destination, 'muted', this.i18n._('Topic muted'));
  }

  toggleFollow({ destination }: ConversationRow): Promise<void> {
    const isFollowed = this.policyOf(destination) === 'followed';
    const text = isFollowed ? this.i18n._('Topic unfollowed') : this.i18n._('Topic followed');
    return this.setPolicy(destination, isFollowed ? 'none' : 'followed', text);
  }

  /** Reverts the latest command. The row that had the focus then gets the focus again. */
  async undo(focus?: LastRow): Promise<void> {
    const latest = this.done.pop();
    this.last.value = null;
    if (focus) focus.awaited = latest?.row ?? null;
    await latest?.undo().catch(reportFailure);
  }

  private policyOf(destination: Destination): TopicPolicy {
    if (destination.kind !== 'channel') return 'none';
    return this.chat.sidebar.policyOf(destination.channelId, destination.topic);
  }

  private async setPolicy(destination: Destination, policy: TopicPolicy, text: string): Promise<void> {
    if (destination.kind !== 'channel') return;
    const { commands } = this.chat;
    const before = this.policyOf(destination);
    await this.run(
      text,
      () => commands.setTopicPolicy(destination, policy),
      () => commands.setTopicPolicy(destination, before),
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
