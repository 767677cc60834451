import { join } from 'node:path';
import { packageFolders } from './package-folders.mjs';

/** Options of esbuild that resolve the packages of a repository to their sources, so that nothing must be built before. */
export const sourcesOf = (root) => ({
  alias: Object.fromEntries(
    [...packageFolders(root)].map(([name, folder]) => [`@parley/${name}`, join(folder, 'src')]),
  ),
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
});
