// The form for the reader's own accounts, whose orders the book marks.

import { ownAccounts } from './book-view.ts';

export function OwnAccountsForm() {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.elements.namedItem('accounts') as HTMLTextAreaElement;
        ownAccounts.value = field.value.split(/[\s,]+/).filter((key) => key !== '');
        (event.currentTarget.closest('details') as HTMLDetailsElement).open = false;
      }}
    >
      <label>
        Trading accounts whose orders the book marks, one a line
        <textarea name="accounts" rows={3} spellcheck={false} defaultValue={ownAccounts.value.join('\n')} />
      </label>
      <button type="submit" class="primary">
        Mark them
      </button>
    </form>
  );
}
