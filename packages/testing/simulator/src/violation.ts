/** Broken promise of the contract. */
export class Violation extends Error {
  constructor(
    readonly invariant: string,
    details: string,
  ) {
    super(`${invariant}: ${details}`);
    this.name = 'Violation';
  }
}
