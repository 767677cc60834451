import type { GroupSettingValue } from '@parley/domain/access';
import { CHANNEL_PERMISSIONS, type ChannelPermissions, type ChannelView } from '@parley/domain/channels';
import type { GroupId } from '@parley/domain/kernel';
import { newTextCache } from '../engine/text-cache.js';
import { groupSettingValues } from '../groups/group-setting-values.js';

export const PERMISSION_NAMES = Object.keys(CHANNEL_PERMISSIONS) as readonly (keyof typeof CHANNEL_PERMISSIONS)[];

/** What groups stand for as values of permissions, and each value as a text: equal texts are equal values. */
export class GroupValues {
  private readonly texts: ReadonlyMap<GroupId, string>;

  constructor(readonly values: ReadonlyMap<GroupId, GroupSettingValue>) {
    const texts = new Map<GroupId, string>();
    for (const [id, value] of values) texts.set(id, typeof value === 'number' ? String(value) : textOfValue(value));
    this.texts = texts;
  }

  textOf(permissions: ChannelPermissions): string {
    let text = '';
    for (const name of PERMISSION_NAMES) text += `${this.texts.get(permissions[name]) ?? ''};`;
    return text;
  }
}

const valueTexts = new WeakMap<object, string>();

function textOfValue(value: Exclude<GroupSettingValue, number>): string {
  const known = valueTexts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  valueTexts.set(value, text);
  return text;
}

/**
 * Most channels give the same permissions to the same people, though their groups are others. Each such set of values is one
 * object, by which others know what they have made of it.
 */
export class SharedPermissions {
  private readonly known = newTextCache<ChannelView['permissions']>();

  of(permissions: ChannelPermissions, groups: GroupValues): ChannelView['permissions'] {
    const text = groups.textOf(permissions);
    const known = this.known.get(text);
    if (known) return known;
    const values = groupSettingValues(CHANNEL_PERMISSIONS, permissions, groups.values);
    this.known.set(text, values);
    return values;
  }
}
