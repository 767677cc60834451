import { createRequire } from 'node:module';
import type { PasswordStrength } from '@parley/domain/credentials';

/** What is used of zxcvbn, which brings no types. */
type Zxcvbn = (password: string, knownWords: readonly string[]) => { readonly guesses: number };

const require = createRequire(import.meta.url);

/** By the estimator that clients use as well. Its dictionaries take 10 MB, so it is loaded when first asked. */
export class ZxcvbnPasswordStrength implements PasswordStrength {
  private estimate: Zxcvbn | undefined;

  leastGuesses(password: string, known: readonly string[]): number {
    this.estimate ??= require('zxcvbn') as Zxcvbn;
    // An address is known as a whole and by its parts.
    const words = known.flatMap((text) => [text, ...text.split(/[^\p{L}\p{N}]+/u)]).filter((word) => word !== '');
    return this.estimate(password, words).guesses;
  }
}
