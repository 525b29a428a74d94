"""Keys, references, units and public tables are found by names and types where a source declares
none.
"""

from __future__ import annotations

from dpsql.schema import Catalog, CatalogColumn, CatalogTable
from dpsql.schema.authoring.guesses import Guesses, guessed
from dpsql.schema.authoring.plain_tables import plain_tables


def _guessed(**tables: str) -> Guesses:
    """The guesses for tables of columns, which are BIGINT where no type stands behind the colon."""
    found = []
    for name, columns in tables.items():
        typed = (column.partition(":") for column in columns.split())
        found.append(
            CatalogTable(
                name,
                "parquet",
                tuple(CatalogColumn(each, its or "BIGINT", True) for each, _, its in typed),
            )
        )
    return guessed(plain_tables(Catalog("x", tuple(found))))


def test_a_star_schema_is_found_by_its_surrogate_keys() -> None:
    found = _guessed(
        date_dim="d_date_sk d_date_id:VARCHAR d_year",
        store="s_store_sk s_store_id:VARCHAR s_city:VARCHAR",
        promotion="p_promo_sk p_promo_id:VARCHAR",
        customer_address="ca_address_sk ca_city:VARCHAR",
        customer_demographics="cd_demo_sk cd_gender:VARCHAR",
        household_demographics="hd_demo_sk hd_dep_count",
        customer="c_customer_sk c_customer_id:VARCHAR c_current_cdemo_sk c_current_hdemo_sk c_current_addr_sk",
        store_sales="ss_sold_date_sk ss_store_sk ss_customer_sk ss_promo_sk ss_quantity",
        web_sales="ws_ship_date_sk ws_bill_customer_sk ws_ship_customer_sk ws_price:DOUBLE",
    )
    assert found.unit == "customer.c_customer_sk"
    assert found.keys["date_dim"] == "d_date_sk" and "store_sales" not in found.keys
    assert found.references["customer"] == {
        "c_current_cdemo_sk": "customer_demographics.cd_demo_sk",
        "c_current_hdemo_sk": "household_demographics.hd_demo_sk",
        "c_current_addr_sk": "customer_address.ca_address_sk",
    }
    assert found.references["store_sales"] == {
        "ss_sold_date_sk": "date_dim.d_date_sk",
        "ss_store_sk": "store.s_store_sk",
        "ss_customer_sk": "customer.c_customer_sk",
        "ss_promo_sk": "promotion.p_promo_sk",
    }
    assert found.references["web_sales"]["ws_bill_customer_sk"] == "customer.c_customer_sk"
    assert found.public == {
        "date_dim",
        "store",
        "promotion",
        "customer_address",
        "customer_demographics",
        "household_demographics",
    }


def test_ids_name_tables_in_the_plural_and_types_must_agree() -> None:
    found = _guessed(
        users="id name:VARCHAR",
        countries="id name:VARCHAR",
        orders="id user_id country_id total:DOUBLE",
        notes="id user_id:VARCHAR text:VARCHAR",
    )
    assert found.unit == "users.id" and found.public == {"countries"}
    assert found.references == {"orders": {"user_id": "users.id", "country_id": "countries.id"}}


def test_names_of_files_with_blanks_and_capitals_are_guessed_by_their_plain_ones() -> None:
    tables = (
        CatalogTable("Patients", "parquet", (CatalogColumn("Patient ID", "BIGINT", True),)),
        CatalogTable(
            "Lab Values",
            "parquet",
            (CatalogColumn("Value", "DOUBLE", True), CatalogColumn("Patient Id", "BIGINT", True)),
        ),
    )
    found = guessed(plain_tables(Catalog("x", tables)))
    assert found.unit == "patients.patient_id"
    assert found.references == {"lab_values": {"patient_id": "patients.patient_id"}}
