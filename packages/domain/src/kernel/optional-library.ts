/** Error for a setting that needs a missing library. `message` is one line with the command that installs it. */
export class MissingLibrary extends Error {
  constructor(setting: string, libraries: string, cause: unknown) {
    super(`${setting} needs a library that is not installed. Run: npm install ${libraries}`, { cause });
    this.name = 'MissingLibrary';
  }
}

/**
 * Runs `load`, which imports libraries needed only for `setting`. `libraries` are the arguments of `npm install`,
 * separated by spaces. @throws MissingLibrary
 */
export function loadOptional<T>(libraries: string, setting: string, load: () => T): T {
  const refuse = (error: unknown): never => {
    throw isMissing(libraries.split(' '), error) ? new MissingLibrary(setting, libraries, error) : error;
  };
  try {
    const loaded = load();
    return loaded instanceof Promise ? (loaded.then(exportsOf, refuse) as T) : loaded;
  } catch (error) {
    return refuse(error);
  }
}

/** Bundles expose the exports of CommonJS libraries only as their default export. */
const exportsOf = (loaded: object): unknown =>
  'default' in loaded && Object.keys(loaded).length === 1 ? loaded.default : loaded;

/** Returns false for an installed library without its own dependencies, which needs another command. */
function isMissing(libraries: readonly string[], error: unknown): boolean {
  const { code, message = '' } = error as { readonly code?: unknown; readonly message?: string };
  return (
    (code === 'MODULE_NOT_FOUND' || code === 'ERR_MODULE_NOT_FOUND') &&
    libraries.some((library) => message.includes(`'${library}'`) || message.includes(`'${library}/`))
  );
}
