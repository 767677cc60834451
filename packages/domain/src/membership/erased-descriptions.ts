import { publishChannelChange } from '../channels/channel-events.js';
import { wholeRealm } from '../kernel/event.js';
import type { RealmId } from '../kernel/ids.js';
import type { Transaction } from '../kernel/unit-of-work.js';
import { ENTITIES_PER_PAGE } from '../kernel/work.js';
import { announceProfileValue } from '../users/profiles.use-cases.js';
import type { MentionRemoval } from './erased-person.js';

/** Texts in Markdown and HTML without mentions; null if there was none. */
function replaced({ replace }: MentionRemoval, text: string, html: string): readonly [string, string] | null {
  const [newText, newHtml] = replace([text, html]);
  return newText === text && newHtml === html ? null : [newText!, newHtml!];
}

/** Removes mentions from the texts of the organization, its channels and folders. Returns the number of changed texts. */
export async function replaceDescriptions(tx: Transaction, realmId: RealmId, removal: MentionRemoval): Promise<number> {
  let count = 0;
  for (const channel of await tx.channels.listAll(realmId)) {
    const [value, rendered] = replaced(removal, channel.description, channel.renderedDescription) ?? [];
    if (value === undefined || rendered === undefined) continue;
    const after = await tx.channels.update({ ...channel, description: value, renderedDescription: rendered });
    const change = { property: 'description', value, rendered } as const;
    const { id: channelId, name } = after;
    await publishChannelChange(tx, channel, after, { type: 'channel.property_changed', channelId, name, ...change });
    count++;
  }
  for (const folder of await tx.channelFolders.list(realmId)) {
    const [description, renderedDescription] = replaced(removal, folder.description, folder.renderedDescription) ?? [];
    if (description === undefined || renderedDescription === undefined) continue;
    const change = { description, renderedDescription };
    await tx.channelFolders.update({ ...folder, ...change });
    const event = { type: 'channel_folder.changed', folderId: folder.id, change } as const;
    await tx.events.append(realmId, { event, audience: wholeRealm });
    count++;
  }
  return count + (await replaceInRealm(tx, realmId, removal));
}

async function replaceInRealm(tx: Transaction, realmId: RealmId, removal: MentionRemoval): Promise<number> {
  let count = 0;
  for (const setting of ['description', 'welcomeMessageCustomText'] as const) {
    const realm = await tx.realms.get(realmId);
    const html = setting === 'description' ? realm.renderedDescription : '';
    const [value, rendered] = replaced(removal, realm.settings[setting], html) ?? [];
    if (value === undefined || rendered === undefined) continue;
    const shown = setting === 'description' ? rendered : null;
    const settings = { ...realm.settings, [setting]: value };
    await tx.realms.update({ ...realm, settings, renderedDescription: shown ?? realm.renderedDescription });
    const event = { type: 'realm.setting_changed', setting, value, rendered: shown } as const;
    await tx.events.append(realmId, { event, audience: wholeRealm });
    count++;
  }
  return count;
}

/** Removes mentions from the profiles of the next users after `after`. Returns null for `next` at the end. */
export async function replaceInProfiles(tx: Transaction, realmId: RealmId, removal: MentionRemoval, after: number) {
  const later = (await tx.users.listEntries(realmId)).filter(({ id }) => id > after);
  const ids = later.slice(0, ENTITIES_PER_PAGE).map(({ id }) => id);
  let count = 0;
  for (const [userId, values] of await tx.profiles.listValues(realmId, ids)) {
    for (const { fieldId, ...former } of values) {
      const [value, rendered] = removal.replace([former.value, former.rendered]);
      if (value === former.value && rendered === former.rendered) continue;
      const changed = { fieldId, value: value!, rendered: rendered! };
      await tx.profiles.putValue(realmId, userId, changed);
      await announceProfileValue(tx, { realmId, id: userId }, changed);
      count++;
    }
  }
  return { count, next: later.length > ids.length ? (ids.at(-1) ?? null) : null };
}
