import type { RealmId, ReminderId, UserId } from '@parley/domain/kernel';
import type { NewReminder, Reminder, ReminderRepository } from '@parley/domain/messages';
import { inOrderOfTime, nextSchedulingId } from './scheduling-rows.js';
import type { MemoryUnit } from './tables.js';

declare module './tables.js' {
  interface Tables {
    readonly reminders: Map<ReminderId, Reminder>;
  }
}

export class MemoryReminders implements ReminderRepository {
  constructor(private readonly unit: MemoryUnit) {}

  async find(realmId: RealmId, id: ReminderId): Promise<Reminder | null> {
    const reminder = this.unit.read('reminders').get(id);
    return reminder?.realmId === realmId ? reminder : null;
  }

  async list(realmId: RealmId, userId: UserId, limit: number): Promise<readonly Reminder[]> {
    return this.of(realmId, userId).sort(inOrderOfTime).slice(0, limit);
  }

  async count(realmId: RealmId, userId: UserId): Promise<number> {
    return this.of(realmId, userId).length;
  }

  async countBytes(realmId: RealmId, userId: UserId): Promise<number> {
    return this.of(realmId, userId).reduce(
      (sum, { content, renderedContent }) => sum + Buffer.byteLength(content + renderedContent),
      0,
    );
  }

  async add(reminder: NewReminder, reserved: ReminderId | null = null): Promise<Reminder> {
    const id = reserved ?? nextSchedulingId<ReminderId>(this.unit);
    const added: Reminder = { id, ...reminder, failure: null };
    this.unit.change('reminders').set(id, added);
    return added;
  }

  async fail(realmId: RealmId, id: ReminderId, failure: string): Promise<void> {
    const reminder = await this.find(realmId, id);
    if (reminder) this.unit.change('reminders').set(id, { ...reminder, failure });
  }

  async remove(realmId: RealmId, id: ReminderId): Promise<void> {
    if (await this.find(realmId, id)) this.unit.change('reminders').delete(id);
  }

  private of(realmId: RealmId, userId: UserId): Reminder[] {
    return [...this.unit.read('reminders').values()].filter(
      (reminder) => reminder.realmId === realmId && reminder.userId === userId,
    );
  }
}
