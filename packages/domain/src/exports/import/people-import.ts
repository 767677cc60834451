import type { DraftId, RealmId, ReminderId, SnippetId, UserId } from '../../kernel/ids.js';
import { slicesOf } from '../../kernel/slices.js';
import type { Transaction, UnitOfWork } from '../../kernel/unit-of-work.js';
import { planDelivery, REMINDER_JOB, SCHEDULED_MESSAGE_JOB } from '../../messages/delivery-jobs.js';
import type { ProfileValue } from '../../users/profile-value.js';
import type { PersonCopy, RealmSource, UserCopy } from '../realm-copy.js';
import { ascending } from './ascending.js';
import { IdMap, invalidImport } from './id-map.js';
import type { ImportedIds } from './imported-ids.js';
import type { OrdinalRuns } from './ordinal-runs.js';

const ENTRIES_AT_A_TIME = 1000;

/** Whose it is. */
type Owner = { readonly realmId: RealmId; readonly userId: UserId };

/** What people have for themselves: subscriptions, read state, choices, drafts and what waits to be sent. */
export class PeopleImport {
  private readonly usersById: ReadonlyMap<UserId, UserCopy>;

  constructor(
    private readonly uow: UnitOfWork,
    private readonly ids: ImportedIds,
    private readonly source: RealmSource,
    private readonly runs: OrdinalRuns,
  ) {
    this.usersById = new Map(source.realm.users.map((copied) => [copied.user.id, copied]));
  }

  async run(): Promise<void> {
    for await (const person of this.source.people()) {
      const userId = this.ids.users.get(person.userId);
      if (this.usersById.get(person.userId)!.user.bot?.isSystem) {
        throw invalidImport(`User ${person.userId} is a bot of the system, and has nothing of its own.`);
      }
      await this.uow.write((tx) => this.addPerson(tx, userId, person));
      for (const entries of slicesOf(person.botStorage, ENTRIES_AT_A_TIME)) {
        await this.uow.write((tx) => tx.botStorage.put(this.ids.realmId, userId, entries));
      }
    }
  }

  private async addPerson(tx: Transaction, userId: UserId, person: PersonCopy): Promise<void> {
    const { realmId } = this.ids;
    const own = { realmId, userId };
    await tx.channels.putSubscriptions(
      person.subscriptions.map((it) => ({ ...it, ...own, channelId: this.ids.channels.get(it.channelId) })),
    );
    for (const [recipientId, { received, read }] of this.runs.of(userId)) {
      await tx.copies.putReceived(own, recipientId, received, read);
      await tx.yield();
    }
    const followed = person.subscriptions.filter(({ isActive }) => isActive).map(({ channelId }) => channelId);
    for (const { recipientId } of await tx.channels.list(realmId, this.ids.channels.list(followed))) {
      await tx.personal.openSpans(realmId, recipientId, [userId]);
    }
    for (const policy of person.topicPolicies) {
      await tx.topicPolicies.put({ ...policy, ...own, channelId: this.ids.channels.get(policy.channelId) });
    }
    for (const value of person.profile) await tx.profiles.putValue(realmId, userId, this.profileValueOf(value));
    if (person.status) {
      const { emoji } = person.status;
      await tx.statuses.put(realmId, userId, { ...person.status, emoji: emoji && this.ids.emojiOf(emoji) });
    }
    if (person.presence) {
      const updateId = await tx.presence.reserveIds(realmId, 1);
      await tx.presence.put(realmId, [{ ...person.presence, userId, updateId }]);
    }
    if (person.alertWords.length > 0) await tx.alertWords.add(realmId, userId, person.alertWords);
    for (const view of person.navigationViews) await tx.navigationViews.put(realmId, userId, view);
    for (const step of person.onboardingSteps) await tx.onboarding.markDone(realmId, userId, step);
    for (const muted of person.mutedUsers) {
      await tx.personal.muteSender(own, this.ids.users.get(muted.userId), muted.mutedAt);
    }
    await tx.yield();
    await this.addPersonalTexts(tx, own, person);
  }

  private profileValueOf({ fieldId, value, rendered }: ProfileValue): ProfileValue {
    const field = this.source.realm.profileFields.find(({ id }) => id === fieldId);
    const isOfUsers = field?.kind === 'users';
    return {
      fieldId: this.ids.fields.get(fieldId),
      value: isOfUsers ? JSON.stringify(userListOf(value).flatMap((id) => this.ids.users.find(id) ?? [])) : value,
      rendered: rendered && this.ids.rewriter.html(rendered),
    };
  }

  private async addPersonalTexts(
    tx: Transaction,
    own: Owner,
    { drafts, snippets, scheduledMessages, reminders }: PersonCopy,
  ): Promise<void> {
    const draftIds = new IdMap<DraftId>('draft', 'draft');
    for (const { id, ...draft } of drafts) {
      const { to } = draft;
      const mapped =
        to.kind === 'channel'
          ? { ...to, channelId: this.ids.channels.get(to.channelId) }
          : to.kind === 'direct'
            ? { ...to, userIds: this.ids.users.list(to.userIds) }
            : to;
      const row = { ...draft, ...own, to: mapped, content: this.ids.rewriter.markdown(draft.content) };
      await draftIds.add(tx, id, () => tx.drafts.add(row));
    }
    const snippetIds = new IdMap<SnippetId>('snippet', 'saved snippet');
    for (const { id, ...snippet } of snippets) {
      const row = { ...snippet, ...own, content: this.ids.rewriter.markdown(snippet.content) };
      await snippetIds.add(tx, id, () => tx.snippets.add(row));
    }
    const due = [
      ...scheduledMessages.map((it) => ({ id: it.id as number, add: () => this.addScheduled(tx, own, it) })),
      ...reminders.map((it) => ({ id: it.id as number, add: () => this.addReminder(tx, own, it) })),
    ];
    const dueIds = new IdMap<number>('scheduled', 'scheduled message');
    for (const { id, add } of ascending(due)) await dueIds.add(tx, id, add);
  }

  private async addScheduled(
    tx: Transaction,
    own: Owner,
    message: PersonCopy['scheduledMessages'][number],
  ): Promise<number> {
    const { id: _, status, failure, to, ...copied } = message;
    const added = await tx.scheduledMessages.add({
      ...copied,
      ...own,
      to:
        to.kind === 'channelId'
          ? { kind: 'channelId', id: this.ids.channels.get(to.id) }
          : { kind: 'userIds', ids: this.ids.users.list(to.ids) },
      content: this.ids.rewriter.markdown(copied.content),
      renderedContent: this.ids.rewriter.html(copied.renderedContent),
    });
    if (status === 'waiting') await planDelivery(tx, SCHEDULED_MESSAGE_JOB, added);
    else await tx.scheduledMessages.update({ ...added, status, failure });
    return added.id;
  }

  private async addReminder(tx: Transaction, own: Owner, reminder: PersonCopy['reminders'][number]): Promise<number> {
    const { id: _, failure, messageId, ...copied } = reminder;
    const added = await tx.reminders.add({
      ...copied,
      ...own,
      // It may have been deleted.
      messageId: this.ids.messages.find(messageId) ?? messageId,
      content: this.ids.rewriter.markdown(copied.content),
      renderedContent: this.ids.rewriter.html(copied.renderedContent),
    });
    if (failure === null) await planDelivery(tx, REMINDER_JOB, added);
    else await tx.reminders.fail(own.realmId, added.id as ReminderId, failure);
    return added.id;
  }
}

function userListOf(value: string): readonly UserId[] {
  let ids: unknown;
  try {
    ids = JSON.parse(value);
  } catch {
    ids = null;
  }
  if (!Array.isArray(ids) || !ids.every(Number.isSafeInteger))
    throw invalidImport('A list of users is no list of ids.');
  return ids as UserId[];
}
