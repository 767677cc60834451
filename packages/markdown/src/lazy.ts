import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** Loads a library when the first message needs it; most need none, and a server that starts should not wait for any. */
export function lazily<T>(load: (require: NodeJS.Require) => T): () => T {
  let loaded: { readonly value: T } | undefined;
  return () => {
    loaded ??= { value: load(require) };
    return loaded.value;
  };
}
