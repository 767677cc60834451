import type { GroupSettings } from '@parley/domain/access';
import type { GroupId } from '@parley/domain/kernel';
import type { GroupSettingsColumn, Quarantine } from '@parley/storage';

/** Reads permissions and looks up the group `nobody` only if one of them is invalid. */
export async function readPermissions<R extends object>(
  column: GroupSettingsColumn<R>,
  json: string,
  id: number,
  quarantine: Quarantine,
  nobodyOf: () => Promise<GroupId>,
): Promise<GroupSettings<R>> {
  let isInvalid = false;
  const read = column.fromJson(json, id, quarantine, () => {
    isInvalid = true;
    return 0 as GroupId;
  });
  if (!isInvalid) return read;
  const nobody = await nobodyOf();
  return column.fromJson(json, id, quarantine, () => nobody);
}
