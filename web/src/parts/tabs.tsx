// Tabs with the keys that readers expect: arrows move between them, Home and End go to the ends.

import type { ComponentChildren } from 'preact';

export interface TabChoice<T extends string> {
  readonly name: T;
  readonly label: string;
}

export interface TabsProps<T extends string> {
  readonly id: string;
  readonly label: string;
  readonly choices: readonly TabChoice<T>[];
  readonly chosen: T;
  onChoose(name: T): void;
  readonly children?: ComponentChildren;
}

export function Tabs<T extends string>({ id, label, choices, chosen, onChoose, children }: TabsProps<T>) {
  const move = (event: KeyboardEvent) => {
    const at = choices.findIndex(({ name }) => name === chosen);
    const last = choices.length - 1;
    const to = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    const choice = to === undefined ? undefined : choices[to];
    if (!choice) return;
    event.preventDefault();
    onChoose(choice.name);
    document.getElementById(`${id}-${choice.name}`)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} onKeyDown={move}>
        {choices.map(({ name, label: text }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === chosen}
            aria-controls={children === undefined ? undefined : `${id}-panel`}
            tabIndex={name === chosen ? 0 : -1}
            onClick={() => onChoose(name)}
          >
            {text}
          </button>
        ))}
      </div>
      {children === undefined ? null : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling panel must be reachable by key
        <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`} tabIndex={0}>
          {children}
        </div>
      )}
    </>
  );
}
