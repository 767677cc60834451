/** What the API calls a permission that groups hold: `canSubscribe` is `can_subscribe_group`. */
export function permissionTitle(name: string): string {
  const title = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return title.endsWith('_groups') ? title : `${title}_group`;
}
