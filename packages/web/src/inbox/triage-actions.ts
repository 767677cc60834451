import type { I18n } from '@lingui/core';
import { type Chat, type ConversationRow, destinationKey, type TopicPolicy } from '@parley/chat';
import type { ParleyClient } from '@parley/client';
import { signal } from '@preact/signals-core';
import { reportFailure } from '../services/failures.js';

/** Maximum messages per call. */
const MAX_PER_CALL = 1000;
const MAX_UNDO = 20;

interface Done {
  readonly text: string;
  undo(): Promise<unknown>;
}

/** Undoable commands for listed conversations. */
export class TriageActions {
  /** Latest command; null once it is undone. */
  readonly last = signal<Done | null>(null);
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
    return this.run({ text: this.i18n._('Marked as read'), undo: () => this.flag(ids, 'remove') }, () =>
      this.flag(ids, 'add'),
    );
  }

  toggleMute(row: ConversationRow): Promise<void> {
    return this.toggle(row, 'muted', this.i18n._('Topic muted'), this.i18n._('Topic unmuted'));
  }

  toggleFollow(row: ConversationRow): Promise<void> {
    return this.toggle(row, 'followed', this.i18n._('Topic followed'), this.i18n._('Topic unfollowed'));
  }

  /** Reverts the latest command. */
  async undo(): Promise<void> {
    const latest = this.done.pop();
    this.last.value = null;
    await latest?.undo().catch(reportFailure);
  }

  private async toggle(
    { destination }: ConversationRow,
    policy: TopicPolicy,
    onText: string,
    offText: string,
  ): Promise<void> {
    if (destination.kind !== 'channel') return;
    const { commands, sidebar } = this.chat;
    const before = sidebar.policyOf(destination.channelId, destination.topic);
    const isOn = before !== policy;
    await this.run({ text: isOn ? onText : offText, undo: () => commands.setTopicPolicy(destination, before) }, () =>
      commands.setTopicPolicy(destination, isOn ? policy : 'none'),
    );
  }

  private async run(done: Done, apply: () => Promise<unknown>): Promise<void> {
    try {
      await apply();
    } catch (error) {
      reportFailure(error);
      return;
    }
    this.done.push(done);
    if (this.done.length > MAX_UNDO) this.done.shift();
    this.last.value = done;
  }

  private async flag(ids: readonly number[], op: 'add' | 'remove'): Promise<void> {
    for (let at = 0; at < ids.length; at += MAX_PER_CALL) {
      await this.client.post('/messages/flags', { messages: ids.slice(at, at + MAX_PER_CALL), op, flag: 'read' });
    }
  }
}
