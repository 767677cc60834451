import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Returns the folders of a repository's packages by name, such as `http` → `ROOT/packages/adapters/http`. Packages of one
 * kind, such as adapters, share a folder.
 */
export function packageFolders(root) {
  const foldersIn = (parent) =>
    readdirSync(parent, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(parent, name));
  const isPackage = (folder) => ['package.json', 'src'].every((name) => existsSync(join(folder, name)));
  const folders = foldersIn(join(root, 'packages')).flatMap((folder) =>
    isPackage(folder) ? [folder] : foldersIn(folder).filter(isPackage),
  );
  return new Map(folders.map((folder) => [basename(folder), folder]));
}
